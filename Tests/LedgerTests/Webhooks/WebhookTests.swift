import Encodings
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import Testing

@testable import EntitlementLedger
@testable import LedgerOperations

/// Who is told of what happens.
struct `A webhook` {
    private static func add(
        _ noticed: NoticedLedger,
        _ change: (inout Webhooks.Wish) -> Void
    ) throws -> Webhook? {
        var wish = Webhooks.Wish(url: "https://a.example/hooks")
        change(&wish)
        var randomness = RandomSource.system
        return try noticed.webhooks.add(wish, at: Sample.newYear, using: &randomness)
    }

    // The example of the specification (standard-webhooks, spec, "Signature scheme").
    @Test func `signs as Standard Webhooks say`() throws {
        let key = try #require(Base64.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let secret = WebhookSecret(key)
        #expect(secret.text == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let signature = secret.signature(
            of: Array(#"{"test": 2432232314}"#.utf8),
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            at: 1_614_265_330
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `has a secret of its own, and another one after a rotation`() async throws {
        try await NoticedLedger.with { noticed in
            let one = try #require(noticed.webhook.secret)
            let other = try #require(try Self.add(noticed) { _ in }?.secret)
            #expect(one != other && one.hasPrefix("whsec_"))
            let id = noticed.webhook.id
            #expect(try noticed.webhooks.webhook(id)?.secret == nil)
            let rotated = try #require(
                try noticed.webhooks.rotateSecret(of: id, at: Sample.newYear)
            )
            #expect(rotated.secret != one && rotated.secretNumber == 2)
            func secrets(_ day: Int64) throws -> [String] {
                try noticed.webhooks.secrets(of: rotated, at: Sample.day(day)).map(\.text)
            }
            #expect(try secrets(1) == [rotated.secret, one])
            #expect(try secrets(2) == [rotated.secret])
        }
    }

    @Test func `is refused where it asks for what there is not`() async throws {
        try await NoticedLedger.with { noticed in
            for url in [
                "", "hooks", "ftp://a.example", "http://a.example/", "https:///x",
                "https://a.example/#x",
                "https://user@a.example/", "https://a.example:0/", "https://a.example:70000/",
                "https://a.example/\u{e4}", "https://a.example/ x", "https://a%00.example/",
                "https://*/", "https://" + String(repeating: "a", count: 300) + "/",
                "https://a.example/" + String(repeating: "x", count: 2048),
            ] {
                #expect(throws: InputFault.self, "\(url)") {
                    try Self.add(noticed) { $0.url = url }
                }
            }
            for types in [["nothing"], ["access.logged"], [""], Array(repeating: "*", count: 65)] {
                #expect(throws: InputFault.self, "\(types)") {
                    try Self.add(noticed) { $0.types = types }
                }
            }
            #expect(
                try Self.add(noticed) {
                    $0.url = "http://10.0.0.1:8080/x"
                    $0.mayBePrivate = true
                } != nil
            )
            while try noticed.webhooks.all().count < Webhooks.countLimit {
                #expect(try Self.add(noticed) { _ in } != nil)
            }
            #expect(try Self.add(noticed) { _ in } == nil)
        }
    }

    @Test func `is kept, changed and removed under its id alone`() async throws {
        try await NoticedLedger.with { noticed in
            let id = noticed.webhook.id
            for other in ["", "wh_", "wh_zz", id + "00", "wh_0000000000000000", id.uppercased()] {
                #expect(try noticed.webhooks.webhook(other) == nil, "\(other)")
                #expect(try !noticed.webhooks.remove(other), "\(other)")
                #expect(try noticed.webhooks.disable(other, because: .asked) == nil, "\(other)")
                #expect(try noticed.webhooks.deliveries(of: other, .dead, limit: 1) == nil)
                #expect(try noticed.webhooks.resend(to: other, 0..<9) == nil)
            }
            #expect(try noticed.webhooks.disable(id, because: .asked)?.disabledBecause == .asked)
            noticed.webhooks.close()
            let again = try Webhooks(ofLedgerAt: noticed.scratch.path, noticed.ledger)
            defer { again.close() }
            #expect(try again.webhook(id)?.state == .disabled)
            #expect(try again.enabledIDs() == [])
            #expect(try again.enable(id)?.disabledBecause == nil)
            #expect(try again.remove(id))
            #expect(try again.all() == [])
        }
    }
}
