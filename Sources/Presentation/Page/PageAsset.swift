import Encodings

/// A file that pages load: a stylesheet or the script, embedded in the program.
///
/// Its name holds a digest of its bytes, so that whoever keeps it for ever keeps no old one.
package struct PageAsset: Sendable {
    /// What stands behind `/assets/`.
    package let name: String
    /// Its bytes.
    package let bytes: [UInt8]
    /// Its media type.
    package let mediaType: String

    private init(_ base: String, _ ending: String, _ bytes: [UInt8], _ mediaType: String) {
        name = "\(base).\(Self.digest(of: bytes)).\(ending)"
        self.bytes = bytes
        self.mediaType = mediaType
    }

    /// The stylesheet of all pages, drawings included.
    package static let stylesheet = PageAsset(
        "pages",
        "css",
        CompactStyle.sheet(PackageResources.pages_css + Array(SVGStyle.sheet.utf8)),
        "text/css; charset=utf-8"
    )

    /// The stylesheet of customers' own pages, behind that of all.
    package static let ownStylesheet = PageAsset(
        "own",
        "css",
        CompactStyle.sheet(PackageResources.own_css),
        "text/css; charset=utf-8"
    )

    /// The script of all pages.
    package static let script = PageAsset(
        "pages",
        "js",
        PackageResources.pages_js,
        "text/javascript; charset=utf-8"
    )

    /// All of them.
    package static let all = [stylesheet, ownStylesheet, script]

    /// FNV-1a of 64 bits: tells one release's file from another's, and guards nothing.
    private static func digest(of bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
