import EventLog
import Synchronization

/// The small numbers that stand for products in the access table.
///
/// One file, replaced whole when a product is added: `ELP1`, ledger id (16), the size of the log at
/// which it was sealed together with the access table u64 (else all ones), the number of products
/// u32, store and id of each as texts, in the order of their codes; CRC-32C.
final class ProductCodes: Sendable {
    private let path: String
    private let ledgerID: [UInt8]
    private let keys: Mutex<[ProductKey]>
    /// The size of the log at which they were sealed when they were read; nil: they were not.
    let sealedSize: UInt64?

    static let fileName = "products"
    private static let magic: UInt32 = 0x3150_4C45
    private static let headerCount = 32
    /// Bytes of the file.
    private static let byteLimit = 64 << 20

    /// Reads the codes of a ledger; none if the file is missing, damaged or another ledger's.
    init(path: String, ledgerID: [UInt8]) {
        self.path = path
        self.ledgerID = ledgerID
        let content = try? ViewFile.content(path, limit: Self.byteLimit)
        let known = content.flatMap { try? Self.keys($0, ledgerID) }
        keys = Mutex(known?.keys ?? [])
        sealedSize = known?.sealedSize
    }

    /// The products that have a code, in the order of their codes.
    func productKeys() -> [ProductKey] { keys.withLock { $0 } }

    /// Adds a product whose code is the number of those before it.
    func add(_ key: ProductKey, code: Int) throws {
        try keys.withLock { keys in
            precondition(code == keys.count, "codes are given without a gap")
            try write(keys + [key], sealedSize: Self.notSealed)
            keys.append(key)
        }
    }

    /// Marks the codes as those of the access table that is sealed at a size of the log.
    func seal(size: UInt64) throws {
        try keys.withLock { try write($0, sealedSize: size) }
    }

    private static let notSealed = UInt64.max

    private func write(_ keys: [ProductKey], sealedSize: UInt64) throws {
        var writer = ByteWriter()
        writer.append(Self.magic)
        writer.bytes += ledgerID
        writer.append(sealedSize)
        writer.append(UInt32(keys.count))
        for key in keys {
            writer.append(key.store)
            writer.append(key.productID)
        }
        writer.append(CRC32C.checksum(writer.bytes.span))
        try ViewFile.replace(path, with: writer.bytes, isDurable: false)
    }

    private static func keys(
        _ content: [UInt8],
        _ ledgerID: [UInt8]
    ) throws(DecodingFault) -> (keys: [ProductKey], sealedSize: UInt64)? {
        let bytes = content.span
        let end = bytes.count - 4
        guard end >= headerCount, bytes.uint32(at: 0) == magic,
            CRC32C.checksum(bytes.extracting(0..<end)) == bytes.uint32(at: end),
            bytes.copy(4..<20) == ledgerID
        else { return nil }
        var keys: [ProductKey] = []
        var cursor = ByteCursor(position: headerCount)
        for _ in 0..<bytes.uint32(at: 28) {
            let store = try cursor.string(bytes)
            keys.append(ProductKey(store: store, productID: try cursor.string(bytes)))
        }
        return (keys, bytes.uint64(at: 20))
    }
}
