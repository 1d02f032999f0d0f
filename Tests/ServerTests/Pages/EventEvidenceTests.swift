import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation
import Testing

@testable import LedgerServer

/// What the page of an event says of its evidence, and whether it counts (rows 7.4, 7.5, 8.5).
struct `The page of an event that a store signed` {
    // row 7.4: the chain up to its root
    @Test func `names the certificates and their root, and says that the signature holds`()
        async throws
    {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let body = try AppStoreWorld.bought("n1")
            _ = try await server.send(.post, "/v1/signals/app-store", body: body)
            let visitor = try PageVisitor(server, with: .read)
            // Each event of the signal, the later ones too.
            for sequence in 1..<(try server.ledger.questions.size()) {
                let path = "/console/events/\(sequence)"
                let json = try await visitor.get(path + ".json").json
                guard json["evidence"] != .null else { continue }
                #expect(json["verdict"] == "verified", "\(sequence)")
                let subjects = json["certificates"]?.array?.compactMap { $0["subject"]?.string }
                #expect(subjects?.count == 3)
                #expect(json["repeats"] == .null)
                let page = try await visitor.get(path)
                let texts = try PageText(page.body).texts
                for subject in subjects ?? [] { #expect(texts.contains(subject)) }
                #expect(texts.contains("Signed by"))
                #expect(texts.contains { $0.contains("Verified again just now") })
                #expect(texts.contains { $0.contains("first of its id") })
                // The payload itself stands nowhere.
                #expect(!page.body.contains("signedPayload"))
                #expect(!page.body.contains("eyJ"))
            }
            let first = try await visitor.get("/console/events/1.json").json
            #expect(first["verdict"] == "verified", "the control: there is one")
            // What somebody recorded by hand has no signer.
            let catalog = try await visitor.get("/console/events/0.json").json
            #expect(catalog["verdict"] == .null && catalog["certificates"] == .array([]))
        }
    }

    // Stores, rule 5: roots that are not trusted any more
    @Test func `says why it does not hold where it is judged otherwise`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let body = try AppStoreWorld.bought("n1")
            _ = try await server.send(.post, "/v1/signals/app-store", body: body)
            let page = EventPage.Evidence(
                verdict: .refused(code: "untrusted_root"),
                certificates: []
            )
            let told = try #require(
                try server.ledger.questions.latest(
                    EventFilter(sequences: 1..<2),
                    for: .everything,
                    limit: 1
                ).events.first
            )
            var shown = EventPage(language: .english, told: told, mayProve: false)
            shown.evidence = page
            shown.repeated = (7, "/console/events/7")
            var text = XMLText()
            shown.write(to: &text)
            let tags = try PageText("<!doctype html><html>" + text.text + "</html>")
            #expect(tags.texts.contains("untrusted_root"))
            #expect(tags.texts.contains { $0.contains("repeats an earlier event") })
            #expect(tags.links.contains("/console/events/7"))
        }
    }
}
