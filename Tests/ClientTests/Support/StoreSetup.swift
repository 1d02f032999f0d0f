import Entitlements
import LedgerAPI

@testable import EntitlementClient

/// A store over a scripted server, files in memory and a clock that is held.
struct StoreSetup: Sendable {
    var server = ScriptedServer()
    var storage = MemoryStorage()
    /// Files in place of those in memory; nil: those.
    var files: FileStorage?
    var time = HeldTime()
    var customer: CustomerID? = SnapshotAuthority.customer
    var environment = StoreEnvironment.production
    /// Keys that alone are trusted; nil: those that the server publishes.
    var pinned: TrustedKeys?
    var builtIn: GateMap?
    let notices = Broadcast<ClientNotice>(.unbounded)

    /// A store as a program that begins makes it.
    func store() -> EntitlementStore {
        EntitlementStore(
            customer,
            cache: OfflineCache(
                storage: (files as (any CacheStorage)?) ?? storage,
                notices: notices
            ),
            connection: ServerConnection(
                url: "https://ledger.test/",
                transport: server.transport,
                time: time.time,
                token: { "token" }
            ),
            options: EntitlementStore.Options(
                environment: environment,
                issuer: nil,
                pinned: pinned,
                builtIn: builtIn,
                clock: ServiceClock(time.time)
            ),
            notices: notices
        )
    }

    /// What was told while something ran.
    func told(_ body: () async throws -> Void) async rethrows -> [ClientNotice] {
        let stream = notices.stream()
        try await body()
        notices.send(.unverifiedTransaction)
        var told: [ClientNotice] = []
        for await notice in stream {
            if notice == .unverifiedTransaction { break }
            told.append(notice)
        }
        return told
    }
}
