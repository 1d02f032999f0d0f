import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Who comes to a customer's own pages, and whose they see (row 9.4).
struct `A customer's own pages` {
    private static let pages = PageTable.ownPages.filter { $0.method == .get }.map { route in
        route.template.replacing("{feature}", with: "export")
            .replacing("{purchase}", with: "app_store%2F700001")
    }
    private static let forms = PageTable.ownPages.filter { $0.method == .post }.map(\.template)

    @Test func `let a customer in by a link, and keep no ticket in an address`() async throws {
        try await OwnWorld.with { server in
            let links = try await server.post(
                "/v1/customers/\(OwnWorld.alice)/page-links?environment=sandbox",
                "",
                as: .support
            )
            #expect(links.status == 201)
            let made = links.json["links"]?.array ?? []
            #expect(made.compactMap { $0["page"]?.string } == ["history", "account", "paywall"])
            for link in made {
                let path = try #require(link["path"]?.string)
                #expect(!path.contains(OwnWorld.alice))
                let answer = try await server.send(.get, path + "&lang=ja")
                #expect(answer.status == 303)
                let page = String(path.prefix { $0 != "?" })
                #expect(answer.headers[.location] == page + "?lang=ja&environment=sandbox")
                #expect(answer.headers[.referrerPolicy] == "no-referrer")
                #expect(answer.headers[.robotsTag] == "noindex")
                #expect(answer.headers[.cacheControl] == "no-store")
                let cookie = try #require(answer.headers[.setCookie])
                #expect(cookie.hasPrefix("entitle-customer=") && cookie.contains("HttpOnly"))
                #expect(cookie.contains("SameSite=Lax"))
                let shown = try await server.page(
                    page + "?environment=sandbox",
                    cookie: String(cookie.prefix { $0 != ";" })
                )
                #expect(shown.status == 200, "\(shown)")
                #expect(shown.headers[.referrerPolicy] == "no-referrer")
                #expect(shown.headers[.cacheControl] == "no-store")
            }
        }
    }

    /// What may be wrong with a ticket; nothing is the control.
    enum Wrong: CaseIterable {
        case nothing, changed, cut, expired, anothers, notices, revoked, empty
    }

    @Test(arguments: Wrong.allCases)
    func `refuse a ticket that is not theirs, in plain words`(_ wrong: Wrong) async throws {
        try await OwnWorld.with { server in
            let tickets = try #require(server.service.pageTickets)
            let known = CustomerTicket(
                customer: try #require(CustomerID(OwnWorld.alice)),
                environment: .production,
                keyID: wrong == .revoked ? "gone" : nil,
                end: server.clock.now.plus(seconds: wrong == .expired ? 0 : 60)
            )
            var text = try tickets.text(of: known)
            switch wrong {
            case .nothing, .expired, .revoked: break
            case .changed: text = (text.first == "A" ? "B" : "A") + text.dropFirst()
            case .cut: text.removeLast(4)
            case .empty: text = ""
            case .notices:
                text = try #require(server.service.changeTickets).text(of: known)
            case .anothers:
                try await TestServer.with { other in
                    // Each has a key of its own.
                    let sealed = try #require(other.service.pageTickets).text(of: known)
                    #expect(tickets.ticket(sealed) == nil)
                }
                return
            }
            let answer = try await server.send(.get, "/history?ticket=" + text)
            guard wrong != .nothing else {
                #expect(answer.status == 303)
                return
            }
            #expect(answer.status == 401)
            #expect(answer.headers[.contentType]?.hasPrefix("text/html") == true)
            #expect(answer.headers[.setCookie] == nil)
            #expect(answer.body.contains("ask for a new link"))
            #expect(!answer.body.contains(OwnWorld.alice) && !answer.body.contains("/console"))
        }
    }

    @Test func `let a customer in by the token that their app has`() async throws {
        try await OwnWorld.with { server in
            let token = try server.token(for: OwnWorld.alice)
            let rows = [
                ("next=/paywall/export?lang=ja", "/paywall/export?lang=ja"), ("", "/account"),
                ("next=https://evil.example/", "/account"), ("next=//evil.example", "/account"),
                ("next=/console", "/account"), ("next=/accounts", "/account"),
            ]
            for (form, place) in rows {
                let answer = try await server.send(
                    .post,
                    "/account/session",
                    credential: token,
                    headers: [.contentType: "application/x-www-form-urlencoded"],
                    body: form
                )
                #expect(answer.status == 303 && answer.headers[.location] == place, "\(form)")
                #expect(answer.headers[.setCookie]?.hasPrefix("entitle-customer=") == true)
            }
            for credential in [nil, "nonsense", server.keys[.admin]] {
                let answer = try await server.send(
                    .post,
                    "/account/session",
                    credential: credential,
                    body: ""
                )
                #expect(answer.status == 401 || answer.status == 403)
                #expect(answer.headers[.setCookie] == nil)
            }
        }
    }

    @Test func `are nobody else's`() async throws {
        try await OwnWorld.with { server in
            let sessions = server.service.access.sessions
            let console = sessions.begin(as: .console, at: server.clock.now)
            let strangers: [HTTPFields] = [
                [:], [.cookie: "entitle-customer=nonsense"], [.cookie: "entitle=" + console],
                // A session of the console under the other name.
                [.cookie: "entitle-customer=" + console],
                [.cookie: "__Host-entitle-customer=" + console],
            ]
            for headers in strangers {
                for path in Self.pages {
                    let answer = try await server.send(.get, path, headers: headers)
                    #expect(answer.status == 401, "\(path) \(headers)")
                }
                for path in Self.forms where path != "/account/logout" {
                    let answer = try await server.send(.post, path, headers: headers, body: "")
                    #expect(answer.status == 401, "\(path) \(headers)")
                }
            }
            for scope in Scope.allCases {
                for path in Self.pages {
                    #expect(try await server.get(path, as: scope).status == 403)
                }
            }
            #expect(Self.pages.count >= 5 && Self.forms.count >= 4)
        }
    }

    @Test func `let nobody into the console`() async throws {
        try await OwnWorld.with { server in
            let cookie = try await server.entered(OwnWorld.alice)
            let secret = try #require(cookie.split(separator: "=").last)
            // Control: it lets into the customer's own.
            #expect(try await server.page("/account", cookie: cookie).status == 200)
            var count = 0
            for route in PageTable.routes {
                guard case .page = route.access, route.method == .get else { continue }
                let path = route.template.replacing("{id}", with: OwnWorld.alice)
                for name in ["entitle-customer", "entitle", "__Host-entitle"] {
                    let answer = try await server.page(path, cookie: "\(name)=\(secret)")
                    #expect([303, 403].contains(answer.status), "\(path) \(name): \(answer)")
                    if answer.status == 303 {
                        #expect(answer.headers[.location]?.hasPrefix("/console/login") == true)
                    }
                    count += 1
                }
            }
            #expect(count > 0)
            let api = try await server.page("/v1/customers/\(OwnWorld.alice)", cookie: cookie)
            #expect(api.status == 401, "the interface knows no cookies")
        }
    }

    @Test func `show a customer what is theirs and nothing of another`() async throws {
        try await OwnWorld.with { server in
            try await server.hand(in: OwnWorld.month(1, of: OwnWorld.alice))
            try await server.hand(in: OwnWorld.month(2, of: OwnWorld.bob))
            let cookie = try await server.entered(OwnWorld.alice)
            for path in ["/history", "/account", "/history.json", "/history.csv", "/account.json"] {
                let answer = try await server.page(path, cookie: cookie)
                #expect(answer.status == 200 && answer.body.contains("700001"), "\(path)")
                #expect(!answer.body.contains("700002") && !answer.body.contains(OwnWorld.bob))
            }
            let own = try await server.page(
                "/history/receipts/app_store%2F700001",
                cookie: cookie
            )
            #expect(own.status == 200 && own.body.contains("¥600"))
            let bobs = try await server.page(
                "/history/receipts/app_store%2F700002",
                cookie: cookie
            )
            let nobodys = try await server.page(
                "/history/receipts/app_store%2F700003",
                cookie: cookie
            )
            #expect(bobs.status == 404 && nobodys.status == 404)
            // Row 8.6: the export is of one's own, and redacted.
            let export = try await server.page("/account/export.ndjson", cookie: cookie)
            #expect(export.status == 200 && !export.body.contains("700002"))
            #expect(export.headers[.contentDisposition]?.contains("attachment") == true)
        }
    }

    @Test func `take a form from a page of the same customer alone`() async throws {
        try await OwnWorld.with { server in
            let cookie = try await server.entered(OwnWorld.alice)
            let wrong = try await server.submit(
                "/account/erasure",
                cookie: cookie,
                "confirm=yes",
                token: "x"
            )
            #expect(wrong.status == 403)
            let cross = try await server.submit(
                "/account/erasure",
                cookie: cookie,
                "confirm=yes",
                headers: [.secFetchSite: "cross-site"]
            )
            #expect(cross.status == 403)
            #expect(try await server.submit("/account/erasure", cookie: cookie).status == 400)
            #expect(try server.events().allSatisfy { $0["type"] != "signal.noted" })
            let right = try await server.submit("/account/erasure", cookie: cookie, "confirm=yes")
            #expect(right.status == 303 && right.headers[.location] == "/account?done=erasure")
            let noted = try server.events().filter { $0["type"] == "signal.noted" }
            #expect(noted.compactMap { $0["data"]?["name"]?.string } == ["erasure_requested"])
        }
    }

    // row 9.5: by the interface too, where a key erases at once
    @Test func `note that a customer's token asks for erasure`() async throws {
        try await OwnWorld.with { server in
            try await server.hand(in: OwnWorld.month(1, of: OwnWorld.alice))
            let answer = try await server.send(
                .delete,
                "/v1/customers/\(OwnWorld.alice)",
                credential: server.token(for: OwnWorld.alice)
            )
            #expect(answer.status == 202, "\(answer)")
            #expect(try await server.state(OwnWorld.alice)["purchases"]?.array?.count == 1)
        }
    }

    @Test func `end where a customer signs out`() async throws {
        try await OwnWorld.with { server in
            let cookie = try await server.entered(OwnWorld.alice)
            let answer = try await server.submit("/account/logout", cookie: cookie)
            #expect(answer.status == 200 && answer.body.contains("signed out"))
            #expect(answer.headers[.setCookie]?.contains("Max-Age=0") == true)
            #expect(try await server.page("/account", cookie: cookie).status == 401)
        }
    }

    /// The cookie of a customer whose app sent their token.
    private static func begun(_ server: TestServer) async throws -> String {
        let answer = try await server.send(
            .post,
            "/account/session",
            credential: server.token(for: OwnWorld.alice),
            headers: [.contentType: "application/x-www-form-urlencoded"],
            body: ""
        )
        return String(try #require(answer.headers[.setCookie]).prefix { $0 != ";" })
    }

    // A key that is revoked lets nobody look, by a link of its making neither.
    @Test func `end with the key that made the link`() async throws {
        try await OwnWorld.with { server in
            let cookie = try await server.entered(OwnWorld.alice)
            let own = try await Self.begun(server)
            #expect(try await server.page("/account", cookie: cookie).status == 200)
            try server.folder.write([APIKey.sample(100, scopes: [.write, .support]).key])
            server.clock.now =
                server.clock.now.advanced(byMilliseconds: KeyRing.lookIntervalMilliseconds)
            #expect(try await server.page("/account", cookie: cookie).status == 401)
            // The control: no key let this one in.
            #expect(try await server.page("/account", cookie: own).status == 200)
        }
    }

    // A session that could begin another would have no end.
    @Test func `begin by no session anew`() async throws {
        try await OwnWorld.with { server in
            let cookie = try await Self.begun(server)
            let answer = try await server.submit(
                "/account/session",
                cookie: cookie,
                "next=/history"
            )
            #expect(answer.status == 303 && answer.headers[.location] == "/history")
            #expect(answer.headers[.setCookie] == nil)
        }
    }

    // A name may end as a form of a page does.
    @Test func `lead to what is called as a file is`() async throws {
        try await OwnWorld.with { server in
            let catalog = OwnWorld.catalog().replacing(
                #"{"id":"export"}"#,
                with: #"{"id":"export"},{"id":"export.csv"},{"id":"export.json"}"#
            )
            let published = try await server.post("/v1/catalog", catalog, as: .admin)
            #expect(published.status == 200 || published.status == 201, "\(published.body)")
            let month = OwnWorld.month(1, of: OwnWorld.alice).map {
                $0.replacing("app_store/700001", with: "app_store/700001.ndjson")
            }
            let cookie = try await server.entered(OwnWorld.alice)
            func follow(_ path: String, to prefix: String, count: Int) async throws {
                let page = try await server.page(path + "?lang=ja", cookie: cookie)
                let links = try PageText(page.body).links.filter { $0.hasPrefix(prefix) }
                #expect(links.count == count, "\(links)")
                for link in links {
                    let answer = try await server.page(link, cookie: cookie)
                    #expect(answer.status == 200, "\(link)")
                    #expect(answer.body.contains("<html lang=\"ja\">"), "\(link)")
                }
            }
            try await follow("/account", to: "/paywall/", count: 4)
            try await server.hand(in: month)
            try await follow("/history", to: "/history/receipts/", count: 1)
        }
    }

    // Of the pages of the console too.
    @Test func `say in the chosen language what is wrong`() async throws {
        try await OwnWorld.with { server in
            for (path, status) in [("/account?", 401), ("/console/login?nonsense=1&", 400)] {
                // The control: else the browser's counts.
                for (query, language) in [("lang=ja", "ja"), ("lang=fr", "en"), ("", "en")] {
                    let answer = try await server.send(
                        .get,
                        path + query,
                        headers: [.acceptLanguage: "en"]
                    )
                    #expect(answer.status == status, "\(path)\(query)")
                    let isChosen = answer.body.contains("<html lang=\"\(language)\">")
                    #expect(isChosen, "\(path)\(query): \(answer.body)")
                }
            }
        }
    }

    @Test func `make no markup of what somebody named`() async throws {
        try await OwnWorld.with { server in
            let id = OwnWorld.markup
            try await server.hand(in: OwnWorld.month(1, of: id))
            let cookie = try await server.entered(id)
            for path in Self.pages where path != "/account/export" {
                let answer = try await server.page(path, cookie: cookie)
                #expect(answer.status == 200, "\(path): \(answer)")
                #expect(!answer.body.contains("<img") && !answer.body.contains("<b>"))
            }
            let account = try await server.page("/account", cookie: cookie)
            #expect(account.body.contains("&lt;img"))
            let paywall = try await server.page("/paywall", cookie: cookie)
            #expect(paywall.body.contains("&lt;b&gt;Pro&lt;/b&gt; Yearly"))
        }
    }
}
