import Encodings
import ModelSupport
import Synchronization
import Testing

@testable import LedgerServer

struct `What came first` {
    @Test func `goes first, whatever went before`() {
        var queue = OldestFirst<Int>()
        var model: [(ticket: UInt64, element: Int)] = []
        var random = SplitMix64(seed: 5)
        for number in 0..<5000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where !model.isEmpty:
                let place = Int.random(in: 0..<model.count, using: &random)
                let removed = queue.remove(model[place].ticket)
                #expect(removed == model.remove(at: place).element)
            case 1 where !model.isEmpty:
                let kept = model.randomElement(using: &random)?.ticket
                let place = model.firstIndex { $0.ticket != kept }
                let oldest = place.map { model.remove(at: $0).element }
                #expect(queue.removeOldest(but: kept) == oldest)
            default: model.append((queue.insert(number), number))
            }
            #expect(queue.count == model.count)
        }
        #expect(queue.removeOldest() == model.first?.element && model.count > 500)
    }
}

struct `A budget of bodies` {
    /// Bodies that had to give way, by name.
    private final class Evicted: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    private let evicted = Evicted()

    private func room(_ name: String, in budget: BodyBudget) -> BodyBudget.Room {
        budget.room { [evicted] in evicted.add(name) }
    }

    @Test func `lets the body that has arrived for longest give way`() {
        let budget = BodyBudget(limit: 100)
        let (old, young, late) = (
            room("old", in: budget), room("young", in: budget), room("late", in: budget)
        )
        #expect(young.take(50) && old.take(50) && budget.byteCount == 100)
        #expect(late.take(1))
        #expect(evicted.all == ["old"] && budget.byteCount == 51)
        // What gave way gets no more, and its end gives nothing back twice.
        #expect(!old.take(1) && !old.settle())
        old.end()
        #expect(budget.byteCount == 51)
        // Nobody gives way to themselves.
        #expect(!late.take(100) && evicted.all == ["old", "young"] && budget.byteCount == 1)
        late.end()
        #expect(budget.byteCount == 0 && budget.released == 101)
    }

    @Test func `lets what is all there be answered, and refuses what comes then`() {
        let budget = BodyBudget(limit: 100)
        let (whole, late) = (room("whole", in: budget), room("late", in: budget))
        #expect(whole.take(100) && whole.settle())
        #expect(!late.take(1) && evicted.all.isEmpty && budget.byteCount == 100)
        whole.end()
        #expect(late.take(100) && late.settle())
        late.end()
        #expect(budget.byteCount == 0)
    }

    @Test func `is never passed, whoever asks at once, and whole again at the end`() async {
        let budget = BodyBudget(limit: 1000)
        await withTaskGroup(of: Void.self) { group in
            for seed in 0..<8 {
                group.addTask {
                    var random = SplitMix64(seed: UInt64(seed))
                    for _ in 0..<500 {
                        let room = budget.room {}
                        for _ in 0..<4 {
                            _ = room.take(Int.random(in: 0...200, using: &random))
                            #expect((0...1000).contains(budget.byteCount))
                        }
                        if Bool.random(using: &random) { _ = room.settle() }
                        room.end()
                    }
                }
            }
        }
        #expect(budget.byteCount == 0 && budget.released > 0)
    }
}
