import Entitlements
import EventLog
import LMDB
import Synchronization

/// Access of customers, in a flat table in memory; filled as customers are asked for.
///
/// Catalogs are applied at question time. Keys are the names that customers are asked for by, hashed
/// under a key of this process: so a question that was asked before costs one look, and nothing of
/// it stands in a file.
final class AccessTable: Sendable {
    private let nameKey: AccessName.Key
    private let slotLimit: Int
    private let state: Mutex<State>

    private struct State {
        var slots = FlatTable(slots: AccessTable.leastSlots)
        var codes: [ProductKey: UInt32] = [:]
        var products: [ProductKey] = []
    }

    static let leastSlots = 1 << 12
    /// Slots of the largest table: 512 MB, for 3.1 million customers.
    static let mostSlots = 1 << 22

    /// Makes an empty table.
    ///
    /// `slotLimit`: a power of two. When a table of so many slots is full, all customers are
    /// forgotten, to be folded again when they are asked for.
    init(using randomness: RandomSource, slotLimit: Int = mostSlots) {
        nameKey = AccessName.Key(using: randomness)
        self.slotLimit = slotLimit
        state = Mutex(State())
    }

    // MARK: Slots

    /// The key of a customer's slot.
    func name(_ customer: String, _ environment: StoreEnvironment) -> AccessName {
        AccessName(customer, environment, nameKey)
    }

    /// The slot of a customer; nil: ask the fold.
    @inline(__always)
    func slot(of name: AccessName) -> AccessSlot? {
        let slots = state.withLock { $0.slots }
        return slots.payload(name.high, name.low).map { AccessSlot($0) }
    }

    /// Keeps a slot.
    ///
    /// Cost: a table that is full is copied into one of twice the size.
    func keep(_ slot: AccessSlot, of name: AccessName) {
        let packed = slot.packed
        state.withLock { state in
            guard !state.slots.write(name.high, name.low, packed) else { return }
            state.slots =
                state.slots.capacity < slotLimit
                ? state.slots.doubled() : FlatTable(slots: Self.leastSlots)
            let isKept = state.slots.write(name.high, name.low, packed)
            assert(isKept, "the new table has room")
        }
    }

    /// Forgets every customer: the views that they were folded through are made anew.
    func forget() { state.withLock { $0.slots = FlatTable(slots: Self.leastSlots) } }

    // MARK: Products

    /// The small number that stands for a product in this process.
    func code(of product: ProductKey) -> UInt32 {
        state.withLock { state in
            if let known = state.codes[product] { return known }
            let code = UInt32(state.products.count)
            state.products.append(product)
            state.codes[product] = code
            return code
        }
    }

    /// The product of a code that this table gave.
    func product(_ code: UInt32) -> ProductKey {
        state.withLock { $0.products[Int(code)] }
    }
}
