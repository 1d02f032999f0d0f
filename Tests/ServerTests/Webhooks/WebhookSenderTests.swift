import Crypto
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import HTTPTypes
import LedgerAPI
import LedgerOperations
import ModelSupport
import Synchronization
import Testing

@testable import LedgerServer

/// Webhooks as a receiver sees them (row Z19).
struct `What a webhook is sent` {
    private static func webhook(
        _ server: TestServer,
        _ url: String,
        more: String = ""
    ) async throws -> (id: String, secret: String) {
        let answer = try await server.post(
            "/v1/webhooks",
            #"{"url":"\#(url)"\#(more)}"#,
            as: .admin
        )
        return (
            try #require(answer.json["id"]?.string), try #require(answer.json["secret"]?.string)
        )
    }

    private static func grant(_ server: TestServer, _ number: Int, to customer: String) async throws
    {
        let body =
            number.isMultiple(of: 2)
            ? #"{"tier":"pro","grantId":"g"}"# : #"{"features":["scan"],"grantId":"g"}"#
        let answer = try await server.post("/v1/customers/\(customer)/grants", body)
        #expect(answer.status == 200, "\(answer.body)")
    }

    /// Whether a message is signed by a secret.
    private static func isSigned(
        _ message: WebhookReceiver.Message,
        by secret: String
    ) throws -> Bool {
        let key = try #require(Base64.decode(String(secret.dropFirst(6))))
        let text = "\(message.id).\(message.timestamp).\(message.body)"
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(text.utf8),
            using: SymmetricKey(data: key)
        )
        let signature = "v1," + Data(code).base64EncodedString()
        return message.signatures.split(separator: " ").contains { $0 == signature }
    }

    @Test func `is signed by each secret that counts`() async throws {
        try await WebhookReceiver.with { receiver, url in
            try await WebhookWorld.with { server in
                let (id, secret) = try await Self.webhook(server, url)
                try await Self.grant(server, 0, to: "alice-1")
                let first = try #require(try await receiver.messages(count: 1).first)
                #expect(try Self.isSigned(first, by: secret))
                let rotated = try await server.send(
                    .post,
                    "/v1/webhooks/\(id)/secrets",
                    credential: server.keys[.admin]
                )
                let next = try #require(rotated.json["secret"]?.string)
                #expect(try !Self.isSigned(first, by: next))
                try await Self.grant(server, 1, to: "alice-1")
                let second = try #require(try await receiver.messages(count: 2).last)
                #expect(try Self.isSigned(second, by: secret) && Self.isSigned(second, by: next))
                let seconds = try #require(Int64(second.timestamp))
                #expect(seconds == server.clock.now.milliseconds / 1000)
                #expect(!second.id.contains(".") && first.id != second.id)
            }
        }
    }

    // Order for each customer, whatever fails in between; repeats have the id of the first.
    @Test func `comes in the order of what happened for each customer`() async throws {
        let generator = Mutex(SplitMix64(seed: 4))
        let tried = Mutex<[String]>([])
        try await WebhookReceiver.with({ message in
            tried.withLock { $0.append(message.id) }
            return generator.withLock { $0.chance(30) } ? .badGateway : .ok
        }) { receiver, url in
            try await WebhookWorld.with { server in
                _ = try await Self.webhook(server, url)
                let customers = ["a-1", "b-1", "c-1", "d-1"]
                for number in 0..<12 {
                    for customer in customers { try await Self.grant(server, number, to: customer) }
                }
                // By the server's clock what failed is due at once.
                for _ in 0..<1200 where receiver.messages.count < 48 {
                    server.clock.now = server.clock.now.advanced(byMilliseconds: 400_000)
                    try await Task.sleep(for: .milliseconds(50))
                }
                let messages = receiver.messages
                #expect(Set(messages.map(\.id)).count == 48 && messages.count == 48)
                for customer in customers {
                    let causes = try messages.compactMap { message -> Int64? in
                        let json = try JSONValue(parsing: Array(message.body.utf8))
                        guard json["data"]?["customer"]?.string == customer else { return nil }
                        return json["data"]?["cause"]?.integer
                    }
                    #expect(causes == causes.sorted() && causes.count == 12, "\(customer)")
                }
                #expect(tried.withLock(\.count) > 48, "something failed")
            }
        }
    }

    // One that hangs holds up its customer, and nobody else; what was sent beside it is not sent again.
    @Test func `goes on for others while a message hangs`() async throws {
        let (release, hang) = AsyncStream.makeStream(of: Void.self)
        try await WebhookReceiver.with({ message in
            if message.body.contains("slow-1") { for await _ in release { break } }
            return .ok
        }) { receiver, url in
            try await WebhookWorld.with { server in
                let (id, _) = try await Self.webhook(server, url)
                let start = ContinuousClock.now
                for number in 0..<3 {
                    for customer in ["slow-1", "quick-1", "quick-2"] {
                        try await Self.grant(server, number, to: customer)
                    }
                    let count = 2 * number + 2
                    #expect(try await receiver.messages(count: count).count == count)
                    guard number == 0 else { continue }
                    // It did not have to be given up for that.
                    let waiting = try await server.get(
                        "/v1/webhooks/\(id)/deliveries",
                        as: .admin
                    ).json["deliveries"]?.array
                    // A busy machine takes longer for that than the sender waits: there it is given up.
                    guard start.duration(to: .now) < .seconds(15) else { continue }
                    #expect(waiting?.allSatisfy { $0["attempts"]?.integer == 0 } == true)
                }
                hang.finish()
                // What a busy machine gave up meanwhile is due by the server's clock.
                for _ in 0..<1200 where Set(receiver.messages.map(\.id)).count < 9 {
                    server.clock.now = server.clock.now.advanced(byMilliseconds: 400_000)
                    try await Task.sleep(for: .milliseconds(50))
                }
                let messages = receiver.messages
                #expect(Set(messages.map(\.id)).count == 9)
                #expect(messages.count { !$0.body.contains("slow-1") } == 6)
                let slow = try messages.compactMap { message -> Int64? in
                    guard message.body.contains("slow-1") else { return nil }
                    let json = try JSONValue(parsing: Array(message.body.utf8))
                    return json["data"]?["cause"]?.integer
                }
                // What was given up meanwhile is sent again, and comes twice.
                var met: Set<Int64> = []
                let first = slow.filter { met.insert($0).inserted }
                #expect(first.count == 3 && first == first.sorted())
            }
        }
    }

    // Whoever is told nothing for a year is woken every second of it.
    @Test func `leaves nothing behind where there is nothing to send`() async throws {
        try await WebhookWorld.with { server in
            let (id, _) = try await Self.webhook(server, "http://127.0.0.1:9/")
            let webhooks = try #require(server.service.webhooks)
            let plan = try #require(
                try DeliveryPlan(of: id, webhooks, from: nil, at: server.clock.now)
            )
            #expect(plan.isEmpty)
            let webhook = try #require(try webhooks.webhook(id))
            let client = try WebhookClient(for: webhook, pool: server.service)
            await withTaskGroup(of: WebhookRound.Event.self) { group in
                var round = WebhookRound(client, clock: { server.clock.now }) { _, _, _ in }
                for _ in 0..<5 { _ = await round.carryOut(plan, in: &group) }
                #expect(group.isEmpty)
            }
            await client.close()
        }
    }

    /// Waits until a look at what is new has ended by the time that it is.
    private static func looks(_ server: TestServer) async throws {
        func last() -> Instant? {
            server.service.jobs.all.first { $0.name == "webhooks" }?.lastRunAt
        }
        for _ in 0..<1200 where last() != server.clock.now {
            try await Task.sleep(for: .milliseconds(25))
        }
        #expect(last() == server.clock.now)
    }

    // T3: by a clock that is not believed time stands for those who are told, and nothing is forgotten.
    @Test func `tells what time changes once the clock is believed`() async throws {
        let isSynchronized = Flag(true)
        let witness = ClockWitness(
            elapsed: { 0 },
            isSynchronized: { isSynchronized.isUp },
            confirmation: { nil }
        )
        try await WebhookReceiver.with { receiver, url in
            try await WebhookWorld.with(witness: witness) { server in
                let (id, _) = try await Self.webhook(server, url)
                let end = noon.plus(seconds: 20 * 86_400)
                let granted = try await server.post(
                    "/v1/customers/alice-1/grants",
                    #"{"tier":"pro","grantId":"g","expiresAt":"\#(end)"}"#
                )
                #expect(granted.status == 200, "\(granted.body)")
                let first = try #require(try await receiver.messages(count: 1).first)
                let webhooks = try #require(server.service.webhooks)
                let next = try webhooks.nextNotice()
                isSynchronized.isUp = false
                // A look that began before the first of them may end by it, and none by the second.
                for day: Int64 in [60, 61] {
                    server.clock.now = noon.plus(seconds: day * 86_400)
                    try await Self.looks(server)
                }
                #expect(try webhooks.nextNotice() == next)
                server.clock.now = end.plus(seconds: 1)
                isSynchronized.isUp = true
                let last = try #require(try await receiver.messages(count: 2).last)
                let json = try JSONValue(parsing: Array(last.body.utf8))
                #expect(json["time"]?.string == "\(end)" && json["data"]?["cause"] == "time")
                let resent = try webhooks.resend(to: id, messages: [Name(first.id)])
                #expect(resent?.resent == 1, "it was not forgotten")
            }
        }
    }

    // A name server that does not answer holds up one thread for each address, however much is told there.
    @Test func `asks once at a time where its address leads`() async throws {
        let webhook = Webhook(
            id: "wh_0000000000000001",
            url: "https://app.example.com/hooks",
            types: ["*"],
            environments: [.production],
            tellsCatalogChanges: false,
            mayBePrivate: false,
            createdAt: noon
        )
        let threads = HeldThreads()
        let client = try WebhookClient(for: webhook, pool: threads)
        try await withThrowingTaskGroup(of: DeliveryAttempt.self) { group in
            defer { threads.release() }
            for _ in 0..<16 { group.addTask { await client.send([], []) } }
            while threads.count == 0 { try await Task.sleep(for: .milliseconds(25)) }
            // The others come meanwhile.
            try await Task.sleep(for: .milliseconds(250))
            #expect(threads.count == 1)
            threads.release()
            for try await attempt in group { #expect(attempt.fault == .unresolved) }
        }
        await client.close()
    }

    /// Threads that do nothing, and take nothing any more once they are released.
    private final class HeldThreads: BlockingPool {
        private let held = Mutex<[@Sendable ((any Error)?) -> Void]?>([])

        var count: Int { held.withLock { $0?.count ?? 0 } }

        func submit(_ work: @escaping @Sendable ((any Error)?) -> Void) {
            let isHeld = held.withLock { held in
                held?.append(work)
                return held != nil
            }
            if !isHeld { work(CancellationError()) }
        }

        func release() {
            let all = held.withLock { held in
                defer { held = nil }
                return held ?? []
            }
            for work in all { work(CancellationError()) }
        }
    }

    // A redirection leads nowhere, and one that is gone is told nothing more.
    @Test func `goes where it was addressed, and no longer than it is wanted`() async throws {
        let status = Mutex(HTTPResponse.Status.temporaryRedirect)
        let tried = Mutex(0)
        try await WebhookReceiver.with({ _ in
            tried.withLock { $0 += 1 }
            return status.withLock(\.self)
        }) { receiver, url in
            try await WebhookWorld.with { server in
                let (id, _) = try await Self.webhook(server, url)
                let path = "/v1/webhooks/" + id
                func isDisabled() async throws -> JSONValue {
                    var shown = JSONValue.null
                    for _ in 0..<1200 where shown["state"]?.string != "disabled" {
                        try await Task.sleep(for: .milliseconds(25))
                        shown = try await server.get(path, as: .admin).json
                    }
                    return shown
                }
                let test = try await server.send(
                    .post,
                    path + "/test",
                    credential: server.keys[.admin]
                )
                #expect(test.json["status"]?.integer == 307 && test.json["taken"]?.bool == false)
                status.withLock { $0 = .gone }
                try await Self.grant(server, 0, to: "alice-1")
                #expect(try await isDisabled()["disabledBecause"]?.string == "gone")
                #expect(receiver.messages.isEmpty)
                // Of many that wait no more are tried than were on their way with the first.
                for number in 0..<40 { try await Self.grant(server, 0, to: "carol-\(number)") }
                tried.withLock { $0 = 0 }
                _ = try await server.send(.post, path + "/enable", credential: server.keys[.admin])
                #expect(try await isDisabled()["disabledBecause"]?.string == "gone")
                #expect((1...16).contains(tried.withLock(\.self)))
                status.withLock { $0 = .ok }
                _ = try await server.send(.post, path + "/enable", credential: server.keys[.admin])
                #expect(try await receiver.messages(count: 41).count == 41)
            }
        }
    }
}

/// What a machine of a cluster says of webhooks that another one tells.
struct `A machine that tells nobody` {
    /// What machines hold in common, which is not to be read for as long as a test says.
    private final class Unreadable: ClusterDeliveries {
        private let isUnreadable = Atomic(true)

        func mend() { isUnreadable.store(false, ordering: .relaxed) }

        func deliveryStamp() throws -> [UInt8]? {
            guard isUnreadable.load(ordering: .relaxed) else { return nil }
            throw LogStorageFault(.unreadable, "a fault that a test made")
        }

        func deliveryState() -> [UInt8]? { nil }

        func noticePages(from number: UInt64, limit: Int) -> [NoticePage] { [] }

        func write(_ change: DeliveriesChange, insteadOf stamp: [UInt8]?) -> Bool { false }
    }

    // Nobody would clear it before this machine leads.
    @Test func `fails for as long as it cannot copy what is told, and no longer`() async throws {
        let common = Unreadable()
        try await WebhookWorld.with(sharedIn: common) { server in
            func hasFailed() -> Bool? {
                server.service.jobs.all.first { $0.name == "webhooks" }
                    .map { $0.result == .failed }
            }
            for _ in 0..<1200 where hasFailed() == nil {
                try await Task.sleep(for: .milliseconds(25))
            }
            #expect(hasFailed() == true)
            common.mend()
            for _ in 0..<1200 where hasFailed() != nil {
                try await Task.sleep(for: .milliseconds(25))
            }
            #expect(hasFailed() == nil)
        }
    }
}

/// Which addresses are part of the public internet.
struct `A public address` {
    @Test(
        arguments: [
            ("8.8.8.8", true), ("1.1.1.1", true), ("223.255.255.255", true), ("172.32.0.1", true),
            ("100.128.0.1", true), ("2606:4700:4700::1111", true), ("2a00:1450:4001::1", true),
            ("0.0.0.0", false), ("10.0.0.1", false), ("100.64.0.1", false), ("127.8.9.1", false),
            ("169.254.169.254", false), ("172.16.0.1", false), ("172.31.255.255", false),
            ("192.168.1.1", false), ("198.18.0.1", false), ("224.0.0.1", false),
            ("255.255.255.255", false), ("::", false), ("::1", false), ("::ffff:10.0.0.1", false),
            ("::127.0.0.1", false), ("::ffff:0:127.0.0.1", false), ("64:ff9b::7f00:1", false),
            ("2002:7f00:1::", false),
            ("fc00::1", false), ("fd12::1", false), ("fe80::1", false), ("fec0::1", false),
            ("ff02::1", false), ("2001:db8::1", false), ("2001::1", false),
        ] as [(String, Bool)]
    )
    func `is none of a network of one's own`(text: String, isPublic: Bool) throws {
        #expect(try #require(IPAddress(text)).isPublic == isPublic)
    }
}
