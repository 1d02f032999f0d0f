import Encodings
import EventLog
import LedgerAPI

/// How far the log goes that an answer was made from, or is to be made from, and which history that is
/// (Several machines).
///
/// As text a number; from a machine of a cluster with a parameter (RFC 9651): `42;root="0011223344556677"`.
struct LogPlace: Hashable {
    /// Number of events.
    var size: UInt64
    /// Which history they are of; nil: it is not said.
    var root: RootPrefix?

    /// Names one.
    init(size: UInt64, root: RootPrefix? = nil) {
        self.size = size
        self.root = root
    }

    /// Reads a header; nil for other text.
    init?(_ text: String) {
        let parts = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        guard let size = UInt64(parts[0]) else { return nil }
        self.init(size: size)
        guard parts.count > 1 else { return }
        let parameter = parts[1].drop { $0 == " " }
        guard parameter.hasPrefix(Self.parameter), parameter.hasSuffix("\""),
            let root = RootPrefix(String(parameter.dropFirst(Self.parameter.count).dropLast()))
        else { return nil }
        self.root = root
    }

    /// As a header says it.
    var text: String {
        root.map { "\(size);\(Self.parameter)\($0.text)\"" } ?? String(size)
    }

    private static let parameter = "root=\""

    /// What the text looks like, for who describes it.
    static let shape = Shape.pattern(#"^[0-9]{1,18}(; *root="[0-9a-f]{16}")?$"#)
}
