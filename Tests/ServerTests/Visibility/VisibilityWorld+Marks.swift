import Encodings
import Entitlements

@testable import LedgerServer

extension VisibilityWorld {
    /// What must not be found in what somebody is told.
    struct Marks {
        var ids: Set<String> = []
        var times: Set<String> = []
        var sums: Set<String> = []
        /// Free text and who wrote it.
        var words: Set<String> = []

        /// Those that a text holds.
        func found(in text: String) -> [String: [String]] {
            let told = Self.words(of: text)
            return ["id": ids, "time": times, "sum": sums, "word": words].compactMapValues {
                let found = $0.intersection(told)
                return found.isEmpty ? nil : found.sorted()
            }
        }

        /// What stands between the marks of any format: each mark of a world is one such word.
        private static func words(of text: String) -> Set<String> {
            let inner = Set(".:-".utf8)
            var words: Set<String> = []
            var word: [UInt8] = []
            for byte in Array(text.utf8) + [0] {
                let isLetter =
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte)
                if isLetter || !word.isEmpty && inner.contains(byte) {
                    word.append(byte)
                } else if !word.isEmpty {
                    while let last = word.last, inner.contains(last) { word.removeLast() }
                    words.insert(String(decoding: word, as: UTF8.self))
                    word = []
                }
            }
            return words
        }
    }

    /// C1, written apart from the fold: when each purchase is whose, ascending.
    func walked(_ purchase: Int) -> [(since: Instant, owner: Relation)] {
        let name = Self.name(purchase).description
        let steps = entries.filter { $0.sequence < size }.map(\.event).sorted { $0.time < $1.time }
        func relation(_ subject: Subject) -> Relation? {
            Relation.allCases.first { relation in
                relation.isNamed(subject)
            }
        }
        func claimant(_ event: Event) -> Relation? {
            event.kind == .customerClaimed && event.data.text(.purchase) == name
                ? relation(event.subject) : nil
        }
        func account(_ event: Event) -> Relation? {
            event.subject == .purchase(Self.name(purchase))
                ? event.data.text(.account).flatMap { Subject("customer/" + $0) }.flatMap(relation)
                : nil
        }
        // The first who claims it, or whom the store names, owns it since ever. Nobody lets go of
        // it, so that under keep no other account counts.
        var owners: [(since: Instant, owner: Relation)] = []
        let first = steps.compactMap { claimant($0) ?? account($0) }.first
        if let first { owners.append((.earliest, first)) }
        for event in steps {
            if let customer = claimant(event) {
                owners.append((event.time, customer))
            } else if event.kind == .customerTransferred, let customer = relation(event.subject),
                event.data.texts(.from) == owners.last.map({ [$0.owner.id] })
            {
                owners.append((event.time, customer))
            }
        }
        return owners
    }

    /// Whose a purchase is at an instant.
    func owner(of purchase: Int, at instant: Instant) -> Relation? {
        owners[purchase].last { $0.since <= instant }?.owner
    }

    /// Whether a customer's token shows an event.
    func shows(_ entry: Entry, to relation: Relation) -> Bool {
        if relation == .erased || entry.sequence >= size { return false }
        if let purchase = entry.purchase {
            return owner(of: purchase, at: entry.event.time) == relation
        }
        return relation.isNamed(entry.event.subject)
    }

    /// The places in the log that a customer must not be told of.
    func hidden(from relation: Relation) -> Set<UInt64> {
        Set(entries.filter { !shows($0, to: relation) }.map(\.sequence))
    }

    /// Whatever a customer must not be told.
    func foreign(to relation: Relation) -> Marks {
        var (foreign, known) = (Marks(), Marks())
        for other in Relation.allCases where other != relation {
            foreign.ids.formUnion(other.names)
        }
        for entry in entries {
            let isShown = shows(entry, to: relation)
            foreign.words.formUnion(entry.words)
            var marks = Marks()
            marks.ids = [entry.event.id]
            marks.times = [entry.event.time.description, entry.recordedAt.description]
            for value in entry.event.data.entries {
                switch (value.field, value.value) {
                case (.transactionID, .text(let id)), (.grantID, .text(let id)),
                    (.useID, .text(let id)), (.flowID, .text(let id)):
                    marks.ids.insert(id)
                case (.priceMicros, .integer(let price)): marks.sums.insert(String(price))
                case (_, .instant(let end)):
                    // An end that lies in the customer's own time is when their access ends.
                    let isOwn = entry.purchase.map { owner(of: $0, at: end) == relation } ?? false
                    if isShown || !isOwn { marks.times.insert(end.description) }
                default: break
                }
            }
            if isShown { known.add(marks) } else { foreign.add(marks) }
        }
        // Ownership begins and ends for both at one instant.
        for owners in owners {
            for (before, after) in zip(owners, owners.dropFirst())
            where before.owner == relation || after.owner == relation {
                known.times.insert(after.since.description)
            }
        }
        foreign.ids.subtract(known.ids)
        foreign.times.subtract(known.times)
        return foreign
    }
}

extension VisibilityWorld.Marks {
    fileprivate mutating func add(_ other: Self) {
        ids.formUnion(other.ids)
        times.formUnion(other.times)
        sums.formUnion(other.sums)
    }
}
