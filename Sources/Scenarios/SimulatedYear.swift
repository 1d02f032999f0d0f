import Encodings
package import EntitlementLedger
package import Entitlements
package import StoreSimulator
import Stores

/// A year of made-up customers: they try, buy, renew, fail to pay, come back, and have money given
/// back, as a seed says.
package struct SimulatedYear {
    private let store: SimulatedAppStore
    private let start: Instant
    private let end: Instant
    private var random: SeededWords
    private var accounts: [SimulatedAppleAccount] = []

    private static let day = Instant.millisecondsPerDay
    private static let length = 365 * day

    /// Plays it for so many customers; it ends at an instant.
    package init(customers: Int, until end: Instant, seed: UInt64, authority: SigningAuthority) {
        store = SimulatedAppStore(authority: authority)
        self.end = end
        start = end.advanced(byMilliseconds: -Self.length)
        random = SeededWords(seed: seed)
        for number in 1...max(1, customers) { accounts.append(account(number)) }
    }

    /// The id of a customer, from 1 on.
    package static func customer(_ number: Int) -> CustomerID {
        // Fits the form of an id: letters and digits.
        CustomerID("customer-\(number)") ?? ScenarioCustomers.usual
    }

    /// What the customers have bought by its end, each under the customer's id.
    package var bought: [(name: String, account: SimulatedAppleAccount)] {
        // Fits: as many as there are.
        accounts.enumerated().map { (Self.customer($0 + 1).text, $1) }
    }

    // MARK: One life

    private mutating func account(_ number: Int) -> SimulatedAppleAccount {
        var account = SimulatedAppleAccount(number, token: Self.token(number), of: store)
        var time = start.advanced(byMilliseconds: Int64(random.next() % UInt64(Self.length)))
        guard let month = ScenarioProducts.product(ScenarioProducts.month),
            let trial = ScenarioProducts.product(ScenarioProducts.trial),
            let plus = ScenarioProducts.product("plus"),
            let lifetime = ScenarioProducts.product("lifetime")
        else { return account }
        if random.percent() < 10 {
            account.buy(lifetime, at: time)
            let later = time.advanced(byMilliseconds: 9 * Self.day)
            if random.percent() < 20, later < end { account.refund(0, at: later) }
            return account
        }
        let isTried = random.percent() < 40
        let product = random.percent() < 25 ? plus : month
        if isTried {
            account.buy(
                trial,
                at: time,
                renewingTo: product,
                .members(["offerType": .integer(1), "offerDiscountType": "FREE_TRIAL"])
            )
        } else {
            account.buy(product, at: time)
        }
        var days: Int64 = isTried ? 7 : 30
        while let next = step(&account, from: time, days) {
            time = next
            days = 30
        }
        return account
    }

    /// What happens to a period that began at a time: when the next one does; nil: none does.
    private mutating func step(
        _ account: inout SimulatedAppleAccount,
        from time: Instant,
        _ days: Int64
    ) -> Instant? {
        func after(_ days: Int64) -> Instant { time.advanced(byMilliseconds: days * Self.day) }
        let (fate, renewal) = (random.percent(), after(days))
        switch fate {
        case 0..<4 where after(3) < end:
            account.refund(account.originals.count - 1, at: after(3))
        case 4..<16:
            guard after(days / 2) < end else { return nil }
            account.setRenewal(0, false, at: after(days / 2))
            guard renewal < end else { return nil }
            account.expire(0, at: renewal)
            let back = after(days + 20 + Int64(random.percent()))
            guard random.percent() < 30, back < end else { return nil }
            account.resubscribe(0, at: back)
            return back
        case 16..<26:
            guard renewal < end else { return nil }
            account.failRenewal(0, graceUntil: after(days + 16), at: renewal)
            let recovery = after(days + 5)
            if random.percent() < 60 {
                guard recovery < end else { return nil }
                account.renew(0, at: recovery)
                return recovery
            }
            if after(days + 16) < end { account.endGrace(0, at: after(days + 16)) }
            if after(days + 60) < end { account.expire(0, at: after(days + 60)) }
            return nil
        default: break
        }
        guard renewal < end else { return nil }
        account.renew(0, at: renewal)
        return renewal
    }

    private static func token(_ number: Int) -> String {
        let digits = String(UInt64(number), radix: 16)
        let padding = String(repeating: "0", count: 12 - digits.count)
        return "5ce0a210-0000-4000-8001-" + padding + digits
    }

    // MARK: Recording

    /// Records the catalog, the customers' names and all that the App Store sent, as of when it was
    /// sent; returns how many messages that were.
    ///
    /// - Throws: what verifying and recording throw.
    package func record(in ledger: Ledger) async throws -> Int {
        let verifier = try AppStoreVerifier(
            AppStoreConfiguration(
                bundleIDs: [store.bundleID],
                appAppleID: store.appAppleID,
                roots: [store.authority.root]
            )
        )
        var told: [(at: Instant, submission: Submission)] = []
        for notification in accounts.flatMap(\.notifications) {
            let signed = String(decoding: try store.signed(notification), as: UTF8.self)
            let body = Array(JSONValue.members(["signedPayload": .string(signed)]).description.utf8)
            let outcomes = await AppStoreImport.outcomes(
                of: try JSONValue(parsing: body),
                body: body,
                verifier: verifier,
                now: notification.time
            )
            told += try outcomes.map { (notification.time, try $0.get()) }
        }
        told.sort { $0.at < $1.at }
        let first = try [catalog()] + accounts.indices.map { try name($0 + 1) }
        let times = first.map { _ in start } + told.map(\.at)
        _ = try ledger.appender.record(first + told.map(\.submission), recordedAt: times)
        return told.count
    }

    private func catalog() throws -> Submission {
        let data = EventData(
            recorded: .catalogPublished,
            entries: [],
            document: try ScenarioProducts.catalog(policy: "keep")
        )
        return request("catalog", EventDraft(subject: .catalog, time: start, data: data))
    }

    /// The customer's own name for whom the App Store knows by a UUID (C2).
    private func name(_ number: Int) throws -> Submission {
        let data = EventData(.customerLinked, [.alias: .text(Self.token(number))])
        let customer = Subject.customer(Self.customer(number))
        return request("name-\(number)", EventDraft(subject: customer, time: start, data: data))
    }

    private func request(_ id: String, _ draft: EventDraft) -> Submission {
        Submission(
            id: id,
            source: draft.subject == .catalog ? Source.catalog : Source.app,
            environment: .production,
            nature: .request,
            drafts: [draft],
            evidenceParts: nil
        )
    }
}
