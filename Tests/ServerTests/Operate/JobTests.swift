import DurableFiles
import Encodings
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import Synchronization
import Testing

@testable import EntitlementLedger
@testable import LedgerServer

/// What the server does by itself, as it says so.
struct `A job` {
    private static func job(_ name: String, _ server: TestServer) async throws -> JSONValue? {
        let answer = try await server.get("/v1/status")
        #expect(answer.status == 200, "\(answer.body)")
        return (answer.json["jobs"]?.array ?? []).first { $0["name"]?.string == name }
    }

    /// Runs jobs by time that the body turns.
    private static func run(
        _ jobs: [any ScheduledJob],
        _ server: TestServer,
        leads: @escaping @Sendable () -> Bool = { true },
        _ body: (TurnedTime) async throws -> Void
    ) async throws {
        let turned = TurnedTime(server.clock)
        let scheduler = JobScheduler(
            jobs: jobs,
            board: server.service.jobs,
            time: turned.time,
            leads: leads
        )
        async let running: Void = scheduler.run()
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(turned)) } catch { outcome = .failure(error) }
        turned.stop()
        try await running
        try outcome.get()
    }

    @Test(.timeLimit(.minutes(60)))
    func `says when it ran, how that ended, and when it comes again`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            #expect(try await Self.job("drift", server) == nil)
            let schedule = LedgerServer.DriftSchedule(interval: .seconds(3600), sample: 1)
            let watch = DriftWatch(service: server.service, schedule: schedule)
            try await Self.run([watch], server) { turned in
                try await turned.turn(by: .seconds(3599), jobs: 1)
                #expect(try await Self.job("drift", server)?["lastRunAt"] == .null)
                try await turned.turn(by: .seconds(1), jobs: 1)
                let ran = try #require(try await Self.job("drift", server))
                let now = server.clock.now
                #expect(ran["result"]?.string == "done" && ran["lastRunAt"]?.string == "\(now)")
                let next = now.advanced(byMilliseconds: 3_600_000)
                #expect(ran["nextRunAt"]?.string == "\(next)")
                // What it cannot do is said, beside when it last could.
                server.storage.endFault = .init(.unreadable, "a fault that a test made")
                try await turned.turn(by: .seconds(3600), jobs: 1)
                server.storage.endFault = nil
                let failed = try #require(try await Self.job("drift", server))
                #expect(failed["result"]?.string == "failed")
                #expect(failed["lastDoneAt"]?.string == "\(now)")
                // It is tried again long before its time.
                let again = server.clock.now.advanced(byMilliseconds: 30_000)
                #expect(failed["nextRunAt"]?.string == "\(again)")
                try await turned.turn(by: .seconds(30), jobs: 1)
                let mended = try #require(try await Self.job("drift", server))
                #expect(mended["lastDoneAt"]?.string == "\(again)")
            }
        }
    }

    @Test func `that the server's end cuts short has not failed`() async throws {
        try await TestServer.with { server in
            let service = server.service
            let jobs: [any ScheduledJob] = [
                IdentifierWatch(service: service),
                QuarantineWatch(service: service, directory: "no ledger"),
            ]
            for job in jobs {
                let ended = Task {
                    while !Task.isCancelled { await Task.yield() }
                    var job = job
                    return await job.run()
                }
                ended.cancel()
                #expect(await ended.value == .ended, "\(job.job)")
            }
            #expect(!server.log.all.contains { $0.contains(#""level":"error""#) })
        }
    }

    /// A job that notes when it ran, and ends each run as it is told.
    private struct Noted: ScheduledJob {
        let job: JobBoard.Job
        let interval: Duration
        let clock: TestClock
        let runs: Runs
        /// What its runs come to, the last one for good.
        var outcomes: [JobRun] = [.done]
        var isLeaders = false

        final class Runs: Sendable {
            let seconds = Mutex<[Int64]>([])
            /// How often it was told that another machine does it.
            let handOvers = Mutex(0)
        }

        func handOver() { runs.handOvers.withLock { $0 += 1 } }

        mutating func run() async -> JobRun {
            let second = (clock.now.milliseconds - noon.milliseconds) / 1000
            runs.seconds.withLock { $0.append(second) }
            return outcomes.count > 1 ? outcomes.removeFirst() : outcomes[0]
        }
    }

    private static let minute = noon.advanced(byMilliseconds: 60_000)
    private static let schedules: [(outcomes: [JobRun], seconds: [Int64])] = [
        ([.done], [600, 1200, 1800, 2400, 3000, 3600]),
        // A delay that doubles, up to the interval.
        ([.failed()], [600, 630, 690, 810, 1050, 1530, 2130, 2730, 3330]),
        ([.failed(), .failed(), .done], [600, 630, 690, 1290, 1890, 2490, 3090]),
        // What gets on each time waits no longer than after the first.
        (
            [.failed(), .failed(gotOn: true), .failed(gotOn: true), .done],
            [600, 630, 660, 690, 1290, 1890, 2490, 3090]
        ),
        // Whoever was asked wants to be left alone for longer, or for less.
        (
            [.failed(notBefore: noon.advanced(byMilliseconds: 2_000_000)), .done],
            [600, 2000, 2600, 3200]
        ),
        ([.failed(notBefore: minute), .done], [600, 630, 1230, 1830, 2430, 3030]),
        ([.postponed(.seconds(60)), .done], [600, 660, 1260, 1860, 2460, 3060]),
    ]

    @Test(.timeLimit(.minutes(60)), arguments: schedules)
    func `runs when it is due, and sooner and ever later where it fails`(
        outcomes: [JobRun],
        seconds: [Int64]
    ) async throws {
        try await TestServer.with { server in
            let runs = Noted.Runs()
            let job = Noted(
                job: .drift,
                interval: .seconds(600),
                clock: server.clock,
                runs: runs,
                outcomes: outcomes
            )
            try await Self.run([job], server) { try await $0.turn(by: .seconds(3600), jobs: 1) }
            #expect(runs.seconds.withLock(\.self) == seconds)
        }
    }

    @Test(.timeLimit(.minutes(60)))
    func `runs where the cluster is led, if it is done once for all of it`() async throws {
        try await TestServer.with { server in
            let (once, each) = (Noted.Runs(), Noted.Runs())
            let leads = Mutex(false)
            let jobs = [(JobBoard.Job.archive, once, true), (.drift, each, false)].map {
                Noted(
                    job: $0.0,
                    interval: .seconds(60),
                    clock: server.clock,
                    runs: $0.1,
                    isLeaders: $0.2
                )
            }
            try await Self.run(jobs, server, leads: { leads.withLock(\.self) }) { turned in
                try await turned.turn(by: .seconds(130), jobs: 2)
                #expect(once.seconds.withLock(\.self) == [])
                #expect(each.seconds.withLock(\.self) == [60, 120])
                leads.withLock { $0 = true }
                try await turned.turn(by: .seconds(70), jobs: 2)
                // At once, then as ever.
                #expect(once.seconds.withLock(\.self) == [131, 191])
                #expect(each.seconds.withLock(\.self) == [60, 120, 180])
            }
        }
    }

    // A machine that led may not lead again for months.
    @Test(.timeLimit(.minutes(60)))
    func `says nothing any more where another machine of the cluster does it`() async throws {
        try await TestServer.with { server in
            let runs = Noted.Runs()
            let leads = Mutex(true)
            let job = Noted(
                job: .stores,
                interval: .seconds(60),
                clock: server.clock,
                runs: runs,
                outcomes: [.failed()],
                isLeaders: true
            )
            try await Self.run([job], server, leads: { leads.withLock(\.self) }) { turned in
                try await turned.turn(by: .seconds(60), jobs: 1)
                let led = try #require(try await Self.job("stores", server))
                #expect(led["result"]?.string == "failed", "the control")
                #expect(runs.handOvers.withLock(\.self) == 0)
                leads.withLock { $0 = false }
                try await turned.turn(by: .seconds(60), jobs: 1)
                let left = try #require(try await Self.job("stores", server))
                #expect(left["result"] == .null && left["lastRunAt"] == .null)
                #expect(runs.handOvers.withLock(\.self) > 0)
            }
        }
    }

    // One that takes long, or fails, is nobody else's matter; and the control: one whose time does not come.
    @Test(.timeLimit(.minutes(60)))
    func `runs at its own times, whatever becomes of others`() async throws {
        try await TestServer.with { server in
            let (often, seldom, never) = (Noted.Runs(), Noted.Runs(), Noted.Runs())
            func job(
                _ name: JobBoard.Job,
                _ seconds: Int,
                _ runs: Noted.Runs,
                _ outcome: JobRun = .done
            ) -> Noted {
                Noted(
                    job: name,
                    interval: .seconds(seconds),
                    clock: server.clock,
                    runs: runs,
                    outcomes: [outcome]
                )
            }
            let jobs = [
                job(.drift, 60, often, .failed()), job(.reports, 150, seldom),
                job(.backfill, 301, never),
            ]
            try await Self.run(jobs, server) { try await $0.turn(by: .seconds(300), jobs: 3) }
            #expect(often.seconds.withLock(\.self) == [60, 90, 150, 210, 270])
            #expect(seldom.seconds.withLock(\.self) == [150, 300])
            #expect(never.seconds.withLock(\.self).isEmpty)
        }
    }

    @Test func `is counted for an alert`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            server.service.jobs.end(.checkpoint, isDone: true)
            server.service.jobs.end(.stores, isDone: true)
            server.clock.now = server.clock.now.advanced(byMilliseconds: 5000)
            server.service.jobs.end(.stores, isDone: false)
            let page = try PrometheusReader(try await server.get("/metrics").body)
            func value(_ name: String, _ job: String) -> Double? {
                page.families.flatMap(\.samples)
                    .first { $0.name == name && $0.labels == ["name": job] }?.value
            }
            #expect(value("entitle_job_failed", "checkpoint") == 0)
            #expect(value("entitle_job_failed", "stores") == 1)
            #expect(value("entitle_job_failed", "drift") == nil)
            let done = Double(server.clock.now.milliseconds / 1000 - 5)
            #expect(value("entitle_job_last_done_seconds", "stores") == done)
        }
    }

    // All that a server has by its options run and say so: none is forgotten. A day is tens of
    // thousands of turns, among all other tests.
    @Test(.timeLimit(.minutes(60)))
    func `is every one that the server has`() async throws {
        var setup = TestServer.Setup()
        setup.adjust = { options in
            options.publication = LedgerServer.PublicationSchedule(interval: .seconds(3600))
            options.archive = LedgerServer.ArchiveSchedule(
                interval: .seconds(3600),
                to: FilesInMemory([:]),
                manifest: Array("{}".utf8)
            )
            let trust = options.trust
            options.readTrust = { () async throws(InputFault) in trust }
        }
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            let jobs = LedgerServer.jobs(server.options, server.service)
            let names = [
                "archive", "audit", "audit_everything", "backfill", "checkpoint", "drift",
                "identifiers",
                "reports", "stores", "trust",
            ]
            #expect(jobs.map(\.job.rawValue).sorted() == names)
            try await Self.run(jobs, server) { turned in
                try await turned.turn(by: .seconds(86_400), jobs: jobs.count)
                let ran = server.service.jobs.all.filter { $0.result == .done }.map(\.name)
                #expect(ran == names)
            }
        }
    }

    // What an import refused is destroyed, also where nobody imports any more.
    @Test func `destroys what has been quarantined for long enough`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "quarantine-" + UUID().uuidString).path
        try DurableFile.makeFolder(folder)
        // A folder for temporary files is emptied by itself.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var setup = TestServer.Setup()
        setup.adjust = { $0.directory = folder }
        try await TestServer.with(setup) { server in
            let place = folder + "/quarantine"
            try DurableFile.makeFolder(place)
            let (old, young) = (["2025-01-01.items", "2025-01-01.key"], ["2026-09-01.items"])
            for name in old + young { try DurableFile.replace(place + "/" + name, with: [0]) }
            let jobs = LedgerServer.jobs(server.options, server.service)
            var job = try #require(jobs.first { $0.job == .quarantine })
            // T3: not by a clock that the ledger does not believe.
            try server.publishCatalog()
            server.clock.now = server.clock.now.advanced(byMilliseconds: -3_600_000)
            let doubted = await job.run()
            #expect(doubted == .postponed(.seconds(3600)))
            let standing = try FileManager.default.contentsOfDirectory(atPath: place)
            #expect(standing.sorted() == old + young)
            server.clock.now = server.clock.now.advanced(byMilliseconds: 3_600_000)
            let run = await job.run()
            #expect(run == .done)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == young)
        }
    }

    private static let hour = noon.advanced(byMilliseconds: 3_600_000)

    private static let holds: [(holds: [Instant?], others: Instant?, notBefore: Instant?)] = [
        ([hour], nil, hour), ([hour], minute, minute), ([minute], hour, minute),
        ([hour, minute], nil, minute), ([nil], hour, nil), ([hour, nil], hour, nil),
    ]

    @Test(arguments: holds)
    func `comes again as soon as one of those that it asks wants to be asked`(
        holds: [Instant?],
        others: Instant?,
        notBefore: Instant?
    ) {
        let run = JobRun.failed(heldUntil: holds, others: others)
        #expect(run == .failed(notBefore: notBefore))
    }

    /// When a server that runs for so long audits everything, in seconds of the test.
    private static func audits(_ duration: Duration, _ server: TestServer) async throws -> [Int64] {
        let runs = Noted.Runs()
        let job = Noted(
            job: .auditEverything,
            interval: .seconds(86_400),
            clock: server.clock,
            runs: runs
        )
        let turned = TurnedTime(server.clock)
        let scheduler = JobScheduler(
            jobs: [job],
            board: JobBoard(clock: { server.clock.now }),
            keeper: JobKeeper(server.service),
            time: turned.time
        )
        async let running: Void = scheduler.run()
        try await turned.turn(by: duration, jobs: 1)
        turned.stop()
        try await running
        return runs.seconds.withLock(\.self)
    }

    // A server that is started each day does what is due each day.
    @Test(.timeLimit(.minutes(60)))
    func `goes on with its times where an earlier server left them`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "jobs-" + UUID().uuidString).path
        try DurableFile.makeFolder(folder)
        // A folder for temporary files is emptied by itself.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var setup = TestServer.Setup()
        setup.adjust = { $0.directory = folder }
        try await TestServer.with(setup) { server in
            func passes(hours: Int64) {
                server.clock.now = server.clock.now.advanced(byMilliseconds: hours * 3_600_000)
            }
            let first = try await Self.audits(.seconds(3599), server)
            let second = try await Self.audits(.seconds(4000), server)
            #expect(first.isEmpty && second == [7199], "none ran before")
            passes(hours: 20)
            let third = try await Self.audits(.seconds(7200), server)
            #expect(third.isEmpty, "it is not due yet")
            passes(hours: 20)
            let begun = (server.clock.now.milliseconds - noon.milliseconds) / 1000
            let fourth = try await Self.audits(.seconds(7200), server)
            #expect(fourth == [begun + 60], "it is overdue")
        }
    }
}
