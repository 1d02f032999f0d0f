import Entitlements
import Observation
import Synchronization
import Testing

@testable import EntitlementClient

@MainActor
struct `Observed entitlements` {
    // row ES3
    @Test func `tell whoever looks on that a feature opened`() async throws {
        let setup = StoreSetup(builtIn: try sampleGates())
        let store = setup.store()
        let observed = ObservableEntitlements(store)
        let following = Task { await observed.follow() }
        let changes = Atomic<Int>(0)
        let counter = ChangeCounter(changes)
        withObservationTracking {
            #expect(!observed.isOpen("export"))
        } onChange: {
            counter.add()
        }
        await store.start()
        #expect(await eventually { @MainActor in counter.count == 1 })
        #expect(await eventually { @MainActor in observed.isOpen("export") })
        following.cancel()
        await store.stop()
    }

    // row Z16: what was known is the same, and an equal value is told to nobody
    @Test func `tell whoever looks on that a feature closed by time alone`() async throws {
        let (setup, end) = (StoreSetup(builtIn: try sampleGates()), noon.plus(seconds: 60))
        setup.server.set(until: end)
        let store = setup.store()
        await store.start()
        let observed = ObservableEntitlements(store)
        let began = ChangeCounter(Atomic<Int>(0))
        Self.look(at: observed, began)
        let following = Task { await observed.follow() }
        // What is known already is told first; nothing else is on its way then.
        try #require(await eventually { @MainActor in began.count == 1 })
        let changes = ChangeCounter(Atomic<Int>(0))
        Self.look(at: observed, changes)
        #expect(observed.isOpen("export"))
        #expect(changes.count == 0, "the control")
        #expect(await eventually { @MainActor in setup.time.alarms == [end] })
        setup.server.isAway = true
        setup.time.pass(to: end)
        #expect(await eventually { @MainActor in changes.count == 1 })
        #expect(!observed.isOpen("export"))
        following.cancel()
        await store.stop()
    }

    /// Looks at a feature once, as a view does that is drawn.
    private static func look(at observed: ObservableEntitlements, _ counter: ChangeCounter) {
        withObservationTracking {
            _ = observed.isOpen("export")
        } onChange: {
            counter.add()
        }
    }

    private final class ChangeCounter: Sendable {
        private let changes: Atomic<Int>
        init(_ changes: consuming Atomic<Int>) { self.changes = changes }
        func add() { changes.wrappingAdd(1, ordering: .relaxed) }
        var count: Int { changes.load(ordering: .relaxed) }
    }
}
