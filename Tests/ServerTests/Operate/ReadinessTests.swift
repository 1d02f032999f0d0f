import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import HTTPTypes
import LedgerAPI
import Synchronization
import Testing

@testable import LedgerServer

/// Whether the server is to be asked: what its ledger cannot do, and what audits found.
struct `Readiness` {
    private static func reasons(_ server: TestServer) async throws -> [String] {
        let answer = try await server.get("/readyz", as: .metrics)
        let reasons = (answer.json["reasons"]?.array ?? []).compactMap(\.string)
        #expect(answer.status == (reasons.isEmpty ? 200 : 503), "\(answer)")
        // To strangers the same, without a word.
        let stranger = try await server.send(.get, "/readyz")
        #expect(stranger.status == answer.status && stranger.body.isEmpty)
        return reasons
    }

    private static func grant(_ server: TestServer) async throws -> Int {
        try await server.post("/v1/customers/wanda-1/grants", #"{"tier":"pro"}"#).status
    }

    // row 8.2: read-only by a fault, until the disk takes something again.
    @Test(arguments: [LogStorageFault.Code.full, .outcomeUnknown, .unreadable])
    func `ends with a disk that takes nothing, and comes back`(
        _ code: LogStorageFault.Code
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            #expect(try await Self.reasons(server) == [])
            server.storage.fault = .init(code, "a fault that a test made")
            #expect(try await Self.grant(server) != 200)
            #expect(try await Self.reasons(server) == ["read_only"])
            // It is asked again, and is not asked all the time.
            let tried = server.storage.checkpointsTried
            #expect(try await Self.reasons(server) == ["read_only"])
            #expect(server.storage.checkpointsTried == tried)
            server.clock.now = server.clock.now.advanced(byMilliseconds: 5000)
            #expect(try await Self.reasons(server) == ["read_only"])
            #expect(server.storage.checkpointsTried == tried + 1)
            server.storage.fault = nil
            server.clock.now = server.clock.now.advanced(byMilliseconds: 5000)
            #expect(try await Self.reasons(server) == [])
            #expect(try await Self.grant(server) == 200)
        }
    }

    // row 8.2: of several machines, one that led and follows by now answers on.
    @Test func `comes back where another machine makes durable what is recorded`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            server.storage.fault = .init(.outcomeUnknown, "a fault that a test made")
            #expect(try await Self.grant(server) != 200)
            #expect(try await Self.reasons(server) == ["read_only"])
            server.storage.fault = .init(.noLeader, "another machine leads")
            server.clock.now = server.clock.now.advanced(byMilliseconds: 5000)
            #expect(try await Self.reasons(server) == [])
            #expect(try await Self.grant(server) == 503)
            #expect(try await Self.reasons(server) == [])
            server.storage.fault = nil
        }
    }

    // The control: who is refused, and one record that is damaged, are no reason.
    @Test func `stays where somebody is refused`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            server.storage.fault = .init(.damaged, "a fault that a test made")
            #expect(try await Self.grant(server) != 200)
            server.storage.fault = nil
            #expect(try await server.post("/v1/customers/wanda-1/grants", "{}").status == 400)
            #expect(try await Self.reasons(server) == [])
        }
    }

    @Test(arguments: [false, true])
    func `is not that of a ledger that was meant to be written to`(
        _ isByFault: Bool
    ) async throws {
        var setup = TestServer.Setup()
        setup.readsOnly = { try TestServer.publishCatalog(in: $0) }
        setup.isReadOnlyByFault = isByFault
        try await TestServer.with(setup) { server in
            let reasons = try await Self.reasons(server)
            #expect(reasons == (isByFault ? ["read_only"] : []))
            // Stores, rule 10: what is the disk's fault is sent again.
            #expect(try await Self.grant(server) == (isByFault ? 507 : 403))
        }
    }

    @Test func `ends with an audit that finds a fault, until one of all finds none`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let watch = AuditWatch(
                service: server.service,
                scope: .everything,
                interval: .seconds(1)
            )
            #expect(await watch.run() == .done)
            #expect(try await Self.reasons(server) == [])
            server.storage.scanFault = .init(.damaged, "a fault that a test made")
            #expect(await watch.run() == .done)
            server.storage.scanFault = nil
            #expect(try await Self.reasons(server) == ["audit"])
            let line = try #require(server.log.all.first { $0.contains("finds faults") })
            #expect(line.contains(#""level":"error""#) && line.contains("record"))
            let figures = try await server.get("/metrics").body
            #expect(
                figures.contains(#"entitle_audits_total{scope="everything",outcome="damaged"} 1"#)
            )
            #expect(!figures.contains(#"entitle_audit_faults{kind="record"} 0"#))
            // A quick one does not look there.
            let quick = AuditWatch(service: server.service, scope: .quick, interval: .seconds(1))
            #expect(await quick.run() == .done)
            #expect(try await Self.reasons(server) == ["audit"])
            #expect(await watch.run() == .done)
            #expect(try await Self.reasons(server) == [])
        }
    }

    // A salvaged ledger is served with its gaps.
    @Test func `stays with a loss that a salvage named`() {
        func answer(isKnown: Bool) -> AuditAnswer {
            AuditAnswer(faults: [AuditFault(.record, 3, "d", isKnown: isKnown)])
        }
        let audits = AuditCounters()
        audits.count(.everything, answer(isKnown: true), at: noon)
        #expect(audits.areSound)
        audits.count(.everything, answer(isKnown: false), at: noon)
        #expect(!audits.areSound)
    }
}

/// Audits behind whoever asks.
struct `An audit watch` {
    /// Paces that were asked for, and an audit that waits.
    private final class Audits: Sendable {
        let paces = Mutex<[LedgerServer.AuditPace]>([])
        let begins = DispatchSemaphore(value: 0)
        let ends = DispatchSemaphore(value: 0)
    }

    @Test func `leaves the machine to requests, and waits where another audit runs`()
        async throws
    {
        let audits = Audits()
        var setup = TestServer.Setup()
        setup.audit = { _, pace, _ in
            audits.paces.withLock { $0.append(pace) }
            audits.begins.signal()
            audits.ends.wait()
            return AuditAnswer()
        }
        try await TestServer.with(setup) { server in
            let watch = AuditWatch(service: server.service, scope: .quick, interval: .seconds(1))
            async let first = watch.run()
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    audits.begins.wait()
                    continuation.resume()
                }
            }
            let second = await watch.run()
            #expect(second == .postponed(.seconds(60)))
            audits.ends.signal()
            let done = await first
            #expect(done == .done)
            let paces = audits.paces.withLock { $0 }
            #expect(paces == [.behind])
        }
    }

    @Test func `is one for each interval that is set`() async throws {
        try await TestServer.with { server in
            func scopes(_ schedule: LedgerServer.AuditSchedule) -> [AuditScope] {
                schedule.watches(server.service).map(\.scope)
            }
            #expect(scopes(.standard) == [.quick, .everything])
            #expect(scopes(.init(quick: nil, everything: .seconds(9))) == [.everything])
            #expect(scopes(.init(quick: nil, everything: nil)) == [])
        }
    }

    // An audit that could not be run says nothing of the ledger, and the next one is not hindered.
    @Test func `goes on after one that failed`() async throws {
        var setup = TestServer.Setup()
        setup.audit = { _, _, _ in throw LogStorageFault(.unreadable, "a fault that a test made") }
        try await TestServer.with(setup) { server in
            let watch = AuditWatch(service: server.service, scope: .quick, interval: .seconds(1))
            #expect(await watch.run() == .failed())
            #expect(await watch.run() == .failed())
            let figures = try await server.get("/metrics").body
            #expect(figures.contains(#"entitle_audits_total{scope="quick",outcome="failed"} 2"#))
            #expect(try await server.get("/readyz").status == 200)
        }
    }
}
