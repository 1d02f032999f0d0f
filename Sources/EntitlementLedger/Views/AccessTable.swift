import EventLog
import LMDB
import Synchronization

/// Access of customers, in a flat table in a mapped file; filled as customers are asked for.
///
/// Catalogs are applied at question time. Sealed at close; a table that was not, or is of another
/// log, is discarded.
final class AccessTable: Sendable {
    private let path: String
    private let position: ViewPosition
    private let productCodes: ProductCodes
    private let log: any LogStorage
    private let state: Mutex<State>

    private struct State {
        /// Made when the first customer is kept: a ledger that is never asked so has no table.
        var table: MappedTable?
        var codes: [ProductKey: UInt32]
        var products: [ProductKey]
    }

    private static let leastSlotCount: UInt64 = 1 << 12

    /// Opens the table at a path, or makes an empty one.
    ///
    /// `matches` tells whether a sealed table's identity is that of this log.
    init(
        path: String,
        position: ViewPosition,
        productCodes: ProductCodes,
        log: any LogStorage,
        matches: (MappedTable.Identity) throws -> Bool
    ) throws {
        self.path = path
        self.position = position
        self.log = log
        self.productCodes = productCodes
        let products = productCodes.productKeys()
        var codes: [ProductKey: UInt32] = [:]
        for (code, product) in products.enumerated() { codes[product] = UInt32(code) }
        var table = try MappedTable.open(path: path, isWritable: true)
        if let found = table,
            try found.identity.ledgerID != position.ledgerID
                || found.payloadBytes != AccessSlot.payloadBytes || !matches(found.identity)
        {
            table = nil
        }
        state = Mutex(State(table: table, codes: codes, products: products))
    }

    /// The slot of a customer's name; nil: ask the fold.
    func slot(of stream: UInt64) -> AccessSlot? {
        let table = state.withLock { $0.table }
        return table?.read(Self.hash(stream), stream) { AccessSlot(decoding: $0) } ?? nil
    }

    /// Keeps a slot; a full table is replaced by an empty one of twice the size.
    func keep(_ slot: AccessSlot, of stream: UInt64) throws {
        let payload = slot.encoded
        try state.withLock { state in
            let table = try state.table ?? makeFirst()
            state.table = table
            do {
                try table.write(Self.hash(stream), stream, payload.span)
            } catch MappedTableError.full {
                let larger = try make(slots: table.capacity * 2)
                try larger.write(Self.hash(stream), stream, payload.span)
                state.table = larger
            }
        }
    }

    /// A slot for each stream: customers are fewer.
    private func makeFirst() throws -> MappedTable {
        try make(slots: Int(max(Self.leastSlotCount, log.end().highestCounter)))
    }

    private func make(slots: Int) throws -> MappedTable {
        try MappedTable.create(
            path: path,
            slots: slots,
            payloadBytes: AccessSlot.payloadBytes,
            identity: position.identity
        )
    }

    /// The code of a product; a new one is kept before it is used.
    func code(of product: ProductKey) throws -> UInt32 {
        try state.withLock { state in
            if let known = state.codes[product] { return known }
            let code = state.products.count
            try productCodes.add(product, code: code)
            state.products.append(product)
            state.codes[product] = UInt32(code)
            return UInt32(code)
        }
    }

    /// The products by their codes.
    var products: [ProductKey] { state.withLock { $0.products } }

    func seal(_ position: ViewPosition) throws {
        try state.withLock { try $0.table?.seal(identity: position.identity) }
        try productCodes.seal(size: position.treeSize)
    }

    /// Spreads stream numbers, which ascend, over the table (Fibonacci hashing).
    private static func hash(_ stream: UInt64) -> UInt64 { stream &* 0x9E37_79B9_7F4A_7C15 }
}

extension ViewPosition {
    fileprivate var identity: MappedTable.Identity {
        MappedTable.Identity(ledgerID: ledgerID, treeSize: treeSize, root: root.bytes)
    }
}
