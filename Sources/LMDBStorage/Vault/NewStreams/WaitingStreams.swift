import EventLog

/// Streams that stand in the log and are to be taken over by the vault, ascending.
///
/// The vault answers for them as for its own.
struct WaitingStreams {
    private(set) var items: [Item] = []
    private var entries: [UInt64: VaultEntry] = [:]
    private var numbers: [StreamName: UInt64] = [:]

    /// One of them.
    struct Item {
        var stream: UInt64
        /// Its sealed entry, as it stands in the log.
        var bytes: [UInt8]
        /// nil: the vault has the stream, and what it has counts.
        var entry: VaultEntry?
    }

    var isEmpty: Bool { items.isEmpty }
    var count: Int { items.count }

    func number(of name: StreamName) -> UInt64? { numbers[name] }
    func entry(of stream: UInt64) -> VaultEntry? { entries[stream] }

    /// Adds streams behind those that wait.
    mutating func add(_ new: some Sequence<Item>) {
        for item in new {
            items.append(item)
            guard let entry = item.entry else { continue }
            entries[item.stream] = entry
            numbers[entry.name] = item.stream
        }
    }

    /// Takes the names from streams that are closed; they are taken over like others, so that their
    /// numbers stay taken.
    mutating func close(_ closed: Set<UInt64>) {
        numbers = numbers.filter { !closed.contains($0.value) }
    }

    /// Forgets the first, which the vault has.
    mutating func removeFirst(_ count: Int) {
        for item in items.prefix(count) {
            guard let name = entries.removeValue(forKey: item.stream)?.name else { continue }
            if numbers[name] == item.stream { numbers[name] = nil }
        }
        items.removeFirst(count)
    }
}
