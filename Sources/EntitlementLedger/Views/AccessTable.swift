import Entitlements
import EventLog
import LMDB
import Synchronization

/// Access of customers, in a flat table in a mapped file; filled as customers are asked for.
///
/// Catalogs are applied at question time. Sealed at close; a table that was not, or is of another
/// log, is discarded. A second table, which is made anew by each process, leads from a customer's
/// name to their stream.
final class AccessTable: Sendable {
    private let path: String
    private let position: ViewPosition
    private let productCodes: ProductCodes
    private let log: any LogStorage
    private let nameKey: AccessName.Key
    private let state: Mutex<State>

    private struct State {
        /// Made when the first customer is kept: a ledger that is never asked so has no table.
        var slots: MappedTable?
        /// Made with the first name.
        var names: MappedTable?
        var codes: [ProductKey: UInt32]
        var products: [ProductKey]
    }

    private static let leastSlotCount: UInt64 = 1 << 12
    /// Slots of the table of names: 64 MB; when they are full, all names are forgotten.
    private static let mostNameSlots = 1 << 21
    private static let streamBytes = 8

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
        nameKey = AccessName.Key(using: .system)
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
        state = Mutex(State(slots: table, codes: codes, products: products))
    }

    // MARK: Slots

    /// The slot of a customer's stream; nil: ask the fold.
    func slot(of stream: UInt64) -> AccessSlot? {
        let slots = state.withLock { $0.slots }
        return slots?.read(Self.hash(stream), stream) { AccessSlot(decoding: $0) } ?? nil
    }

    /// Keeps a slot; a full table is replaced by an empty one of twice the size.
    func keep(_ slot: AccessSlot, of stream: UInt64) throws {
        let payload = slot.encoded
        try state.withLock { state in
            let slots = try state.slots ?? make(path, try firstSlotCount(), AccessSlot.payloadBytes)
            state.slots = slots
            do {
                try slots.write(Self.hash(stream), stream, payload.span)
            } catch MappedTableError.full {
                let larger = try make(path, slots.capacity * 2, AccessSlot.payloadBytes)
                try larger.write(Self.hash(stream), stream, payload.span)
                state.slots = larger
            }
        }
    }

    /// A slot for each stream: customers are fewer.
    private func firstSlotCount() throws -> Int {
        Int(min(max(Self.leastSlotCount, try log.end().highestCounter), 1 << 40))
    }

    private func make(_ path: String, _ slots: Int, _ payloadBytes: Int) throws -> MappedTable {
        try MappedTable.create(
            path: path,
            slots: slots,
            payloadBytes: payloadBytes,
            identity: position.identity
        )
    }

    func seal(_ position: ViewPosition) throws {
        try state.withLock { try $0.slots?.seal(identity: position.identity) }
        try productCodes.seal(size: position.treeSize)
    }

    // MARK: Names

    /// The stream of a customer who was kept by this process; nil: ask the vault.
    func stream(of customer: String, _ environment: StoreEnvironment) -> UInt64? {
        guard let names = state.withLock({ $0.names }) else { return nil }
        let name = AccessName(customer, environment, nameKey)
        return names.read(name.high, name.low) { $0.uint64(at: 0) }
    }

    /// Keeps the stream of a customer's name, which changes with an erasure only.
    func keep(
        _ stream: UInt64,
        of customer: String,
        _ environment: StoreEnvironment
    ) throws {
        let name = AccessName(customer, environment, nameKey)
        var payload = ByteWriter(reservingCapacity: Self.streamBytes)
        payload.append(stream)
        try state.withLock { state in
            let names = try state.names ?? makeNames()
            state.names = names
            do {
                try names.write(name.high, name.low, payload.bytes.span)
            } catch MappedTableError.full {
                state.names = try makeNames()
            }
        }
    }

    /// Forgets all names: some belong to nobody any more.
    func forgetNames() { state.withLock { $0.names = nil } }

    private func makeNames() throws -> MappedTable {
        // Room for 4/3 of the streams, so that one of a population of customers is never full.
        let slots = min(try firstSlotCount() / 3 * 4, Self.mostNameSlots)
        return try make(path + "-names", slots, Self.streamBytes)
    }

    /// Spreads stream numbers, which ascend, over the table (Fibonacci hashing).
    private static func hash(_ stream: UInt64) -> UInt64 { stream &* 0x9E37_79B9_7F4A_7C15 }

    // MARK: Products

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

    /// The product of a code.
    func product(_ code: UInt32) -> ProductKey? {
        state.withLock { $0.products.indices.contains(Int(code)) ? $0.products[Int(code)] : nil }
    }
}

extension ViewPosition {
    fileprivate var identity: MappedTable.Identity {
        MappedTable.Identity(ledgerID: ledgerID, treeSize: treeSize, root: root.bytes)
    }
}
