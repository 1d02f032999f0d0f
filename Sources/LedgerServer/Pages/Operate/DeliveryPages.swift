import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Presentation

/// What came of stores, and webhooks: what their routes do too (Z12, Z19).
extension PageTable {
    static let deliveryPages: [Route] = [
        .page(
            "/console/deliveries",
            "showDeliveriesPage",
            "Webhooks out, signals in, and how complete sources are.",
            [.read, .audit],
            deliveries
        ),
        .page(
            "/console/deliveries/{webhook}",
            "showWebhookPage",
            "One who is told, and what was not taken.",
            [.admin],
            webhook
        ),
        .form(
            "/console/deliveries/{webhook}/test",
            "testWebhookFromPage",
            "Sends one a message that tells of nothing, and shows what they answered.",
            .page([.admin]),
            fields: []
        ) { call, _, service in
            let trial = try await RouteTable.trial(call, service)
            return try call.answer(await webhook(call, service, trial), service)
        },
        change("disable", "Tells one nothing until it is enabled.") { webhooks, id in
            try webhooks.disable(id, because: .asked) != nil
        },
        change("enable", "Tells one again.") { webhooks, id in try webhooks.enable(id) != nil },
        .form(
            "/console/deliveries/{webhook}/resend",
            "resendFromPage",
            "Delivers once more what is not tried any more.",
            .page([.admin]),
            fields: ["from", "to"]
        ) { call, form, service in
            try RouteTable.requireWriting(service)
            let from = try Query.sequence(form["from"] ?? "", "from")
            let to = try Query.sequence(form["to"] ?? "", "to")
            guard from <= to else { throw Problem(.outOfRange, "expected from <= to", path: "to") }
            _ = try await RouteTable.found(call, service, changes: true) {
                webhooks,
                id -> WebhookResendAnswer? in
                // What lies between them and was taken is not delivered again.
                let dead = try webhooks.deliveries(of: id, .dead, limit: deliveryLimit)
                let messages = dead?.filter { (from..<to).contains($0.number) }.compactMap(\.id)
                return try webhooks.resend(to: id, messages: Set(texts: messages ?? []))
            }
            return .seeOther(call.link(["deliveries", call.path[.webhook] ?? ""]))
        },
    ]

    /// A form that changes one who is told.
    ///
    /// `body`: false where there is none of that id.
    private static func change(
        _ name: String,
        _ summary: String,
        _ body: @escaping @Sendable (Webhooks, _ id: String) throws -> Bool
    ) -> Route {
        .form(
            "/console/deliveries/{webhook}/\(name)",
            "\(name)WebhookFromPage",
            summary,
            .page([.admin]),
            fields: []
        ) { call, _, service in
            try RouteTable.requireWriting(service)
            _ = try await RouteTable.found(call, service, changes: true) { webhooks, id in
                try body(webhooks, id) ? true : nil
            }
            return .seeOther(call.link(["deliveries", call.path[.webhook] ?? ""]))
        }
    }

    /// Deliveries of one list.
    private static let deliveryLimit = 100

    @Sendable
    private static func deliveries(_ call: Call, _ service: LedgerService) async throws -> Page {
        let found = try await HealthLook.look(service, for: call.caller)
        var told: [Webhook]?
        if call.caller.has(.admin), let webhooks = service.webhooks {
            told = try await service.blocking { try webhooks.all() }
        }
        let signals = service.metrics.signalCounts
        let page = DeliveriesPage(
            language: call.language,
            signals: signals,
            sources: found.status.completeness,
            webhooks: told,
            path: { call.link(["deliveries", $0]) },
            source: { call.link(["events"], [(.source, $0)]) }
        )
        var body = XMLText()
        page.write(to: &body)
        return Page(
            title: DeliveriesPage.title(in: call.language),
            section: .deliveries,
            body: body,
            json: Array(
                JSONValue.members([
                    "webhooks": told.map { .array($0.map(\.jsonValue)) } ?? .null,
                    "signals": .array(signals.map { .object($0.members) }),
                    "completeness": found.status.jsonValue["completeness"] ?? .null,
                ])
                .description.utf8
            ),
            rows: Page.Rows(
                columns: ["store", "outcome", "count"],
                cells: signals.map { $0.members.map(\.value) }
            ),
            size: found.status.sequence,
            command: "entitle webhooks list"
        )
    }

    @Sendable
    private static func webhook(_ call: Call, _ service: LedgerService) async throws -> Page {
        try await webhook(call, service, nil)
    }

    private static func webhook(
        _ call: Call,
        _ service: LedgerService,
        _ trial: WebhookTestAnswer?
    ) async throws -> Page {
        let (webhook, waiting, dead) = try await RouteTable.found(call, service) {
            webhooks,
            id -> (Webhook, [WebhookDelivery], [WebhookDelivery])? in
            guard let webhook = try webhooks.webhook(id) else { return nil }
            return (
                webhook,
                try webhooks.deliveries(of: id, .waiting, limit: deliveryLimit) ?? [],
                try webhooks.deliveries(of: id, .dead, limit: deliveryLimit) ?? []
            )
        }
        var page = WebhookPage(
            language: call.language,
            webhook: webhook,
            waiting: waiting,
            dead: dead,
            token: call.session?.formToken,
            path: { call.link(["deliveries", webhook.id, $0]) }
        )
        page.trial = trial
        var body = XMLText()
        page.write(to: &body)
        return Page(
            title: webhook.id,
            section: .deliveries,
            body: body,
            json: webhook.jsonText.bytes,
            rows: Page.Rows(
                columns: WebhookDelivery.columns,
                cells: (dead + waiting).map(\.cells)
            ),
            command: "entitle webhooks deliveries \(webhook.id)"
        )
    }
}

extension DeliveriesPage.Signals {
    fileprivate var members: [JSONMember] {
        [
            JSONMember("store", .string(store)), JSONMember("outcome", .string(outcome)),
            JSONMember("count", .integer(count)),
        ]
    }
}
