import Entitlements
import HTTPTypes
import LedgerAPI
import Testing

@testable import LedgerServer

/// Several machines: as whom one passes a call on to another.
struct `A node's ticket` {
    private static let token = "a token/of forms"

    /// What a machine that is passed a call on reads of a ticket, as one of a few lines.
    private func read(
        _ holder: NodeTicket.Holder,
        _ server: TestServer,
        later milliseconds: Int64 = 0,
        scopes: ScopeSet? = [.support]
    ) throws -> String {
        let ticket = try NodeTicket(of: server.service.ledger)
        let now = server.clock.now
        let text = try ticket.text(of: "b", for: holder, at: now)
        let found = ticket.holder(
            [.ledgerNode: text],
            at: now.advanced(byMilliseconds: milliseconds),
            scopes: { $0 == "k1" ? scopes : nil }
        )
        return switch found {
        case nil: "nobody"
        case .credential: "credential"
        case .owner: "owner"
        case .session(let session): "\(session.caller.label) \(session.formToken)"
        }
    }

    private func session(_ caller: Caller) -> NodeTicket.Holder {
        .session(.init(passedOnFor: caller, formToken: Self.token, at: Instant(milliseconds: 0)))
    }

    @Test func `says as whom a call is passed on, for a minute`() async throws {
        try await TestServer.with { server in
            let cases: [(holder: NodeTicket.Holder, later: Int64, said: String)] = [
                (.credential, 0, "credential"), (.owner, 0, "owner"), (.owner, 59_999, "owner"),
                (.owner, 60_000, "nobody"), (session(.console), 0, "key/console " + Self.token),
                (session(.customer(id: "owner")), 0, "customer " + Self.token),
            ]
            for (holder, later, said) in cases {
                let read = try read(holder, server, later: later)
                #expect(read == said)
            }
        }
    }

    // A key is what it is at the machine that acts by it.
    @Test func `gives the scopes that a key has where it is read, and none that was revoked`()
        async throws
    {
        try await TestServer.with { server in
            let holder = session(.key(id: "k1", scopes: [.admin]))
            let said = try read(holder, server)
            #expect(said == "key/k1 " + Self.token)
            let ticket = try NodeTicket(of: server.service.ledger)
            let text = try ticket.text(of: "b", for: holder, at: server.clock.now)
            guard
                case .session(let session)? = ticket.holder(
                    [.ledgerNode: text],
                    at: server.clock.now,
                    scopes: { _ in [.support] }
                )
            else {
                Issue.record("no session")
                return
            }
            #expect(session.caller == .key(id: "k1", scopes: [.support]))
            let revoked = try read(holder, server, scopes: nil)
            #expect(revoked == "credential")
        }
    }

    // Who came by a link is in for as long as the key that made it, which may be revoked meanwhile.
    @Test func `stands for a customer while the key of their link does`() async throws {
        try await TestServer.with { server in
            let now = server.clock.now
            let sessions = PageSessions()
            let secret = sessions.begin(as: .customer(id: "owner"), linkKeyID: "k1", at: now)
            let session = try #require(sessions.session(secret, at: now))
            let cases: [(scopes: ScopeSet?, said: String)] = [
                ([.support], "customer " + session.formToken),
                ([.write], "customer " + session.formToken), ([.read], "credential"),
                (nil, "credential"),
            ]
            for (scopes, said) in cases {
                let read = try read(.session(session), server, scopes: scopes)
                #expect(read == said)
            }
        }
    }

    @Test func `is none where it is changed, or another ledger's`() async throws {
        try await TestServer.with { server in
            let ticket = try NodeTicket(of: server.service.ledger)
            let now = server.clock.now
            let text = try ticket.text(of: "b", for: .owner, at: now)
            #expect(isOne(text, of: ticket, at: now), "the control")
            #expect(!isOne(text + "A", of: ticket, at: now))
            #expect(!isOne("", of: ticket, at: now))
            try await TestServer.with { other in
                let theirs = try NodeTicket(of: other.service.ledger)
                #expect(!isOne(text, of: theirs, at: now))
            }
        }
    }

    private func isOne(_ text: String, of ticket: NodeTicket, at now: Instant) -> Bool {
        ticket.holder([.ledgerNode: text], at: now) { _ in [.admin] } != nil
    }
}
