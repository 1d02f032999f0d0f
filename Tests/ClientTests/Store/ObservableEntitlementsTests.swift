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

    private final class ChangeCounter: Sendable {
        private let changes: Atomic<Int>
        init(_ changes: consuming Atomic<Int>) { self.changes = changes }
        func add() { changes.wrappingAdd(1, ordering: .relaxed) }
        var count: Int { changes.load(ordering: .relaxed) }
    }
}
