package import Encodings
import Entitlements

extension Described {
    /// The JSON Schema, whose parts are described elsewhere.
    package static func schema(in place: Shape.Place) -> JSONValue {
        Shape.object(fields.members, isClosed: place == .file, in: place)
    }

    /// The kinds of answers that stand in it, each once, itself not.
    package static var parts: [any Described.Type] { reaching(shapes) }

    static func reference(in place: Shape.Place) -> String {
        (place == .interface ? "#/components/schemas/" : "#/$defs/") + fields.name
    }

    fileprivate static var shapes: [Shape] { fields.members.map(\.shape) }
}

/// The kinds of answers that stand in some shapes, and in those again; each once.
private func reaching(_ shapes: [Shape]) -> [any Described.Type] {
    var parts: [any Described.Type] = []
    var waiting = shapes.flatMap(\.described)[...]
    while let part = waiting.popFirst() {
        guard !parts.contains(where: { $0 == part }) else { continue }
        parts.append(part)
        waiting += part.shapes.flatMap(\.described)
    }
    return parts
}

/// A schema in a file of its own: `schemas/NAME.schema.json`, as `tools/check-schemas --write`
/// writes it.
package struct SchemaFile: Sendable {
    /// The file's name up to its first dot.
    package let name: String
    private let about: String?
    private let content: Content

    private enum Content {
        /// What several schemas share.
        case common
        case answer(any Described.Type)
        /// What is read, by the domain's tables.
        case input([JSONMember], title: String)
        /// One of several, and what they have in common.
        case oneOf([any Described.Type], title: String)
    }

    private init(_ name: String, _ answer: any Described.Type, _ about: String) {
        self.init(name, .answer(answer), about)
    }

    private init(_ name: String, _ content: Content, _ about: String? = nil) {
        self.name = name
        self.about = about
        self.content = content
    }

    /// Every schema that is made from a list.
    package static let all = [
        SchemaFile("common", .common),
        SchemaFile("audit", AuditAnswer.self, "`audit --json`, `GET /v1/audit`."),
        SchemaFile("can", AccessAnswer.self, "`can --json`."),
        SchemaFile(
            "backfill",
            BackfillAnswer.self,
            "`sync --backfill --json`, `sync --from --json`."
        ),
        SchemaFile(
            "catalog",
            .input(CatalogSchema.members, title: "A catalog"),
            "What `catalog publish` reads and `catalog show` prints. The schema states the shapes; `catalog validate` also checks what names what: tiers and features that are not there, ids given twice, two products under one store id. Members of features, products and trials beyond those named here are presentation and are kept."
        ),
        SchemaFile(
            "catalog-diff",
            CatalogDifferenceAnswer.self,
            "`catalog diff --json`: the catalog in force beside another one, and whom the change would affect."
        ),
        SchemaFile(
            "compare",
            ComparisonAnswer.self,
            "`compare revenuecat --json`. The counts are exact; the lists hold the first of each."
        ),
        SchemaFile(
            "compare-line",
            ComparedCustomer.self,
            "A line of the file that `compare revenuecat --output` writes."
        ),
        SchemaFile("check-export", ExportCheckAnswer.self, "`check-export --json`."),
        SchemaFile(
            "check-proof",
            CheckedProofAnswer.self,
            "`check-proof --json` of a proof that holds; one that does not is a problem, exit 3."
        ),
        SchemaFile(
            "claim",
            ClaimAnswer.self,
            "`claim CUSTOMER --signed-transaction FILE… --json`, one item for each file in their order; the items of `POST /v1/customers/{id}/restore` are the same."
        ),
        SchemaFile(
            "cluster-check",
            ClusterCheckAnswer.self,
            "`cluster check --json`: what of a PostgreSQL could lose what it acknowledged."
        ),
        SchemaFile(
            "cluster-status",
            ClusterStatusAnswer.self,
            "`cluster status --json`: who leads, which machines there are, and how far each is."
        ),
        SchemaFile("config", ConfigurationAnswer.self, "`config show --json`."),
        SchemaFile(
            "diff",
            DifferenceAnswer.self,
            "`diff --json`: values are those of `show`; null where a value stands, before or after null where a thing came or went."
        ),
        SchemaFile(
            "doctor",
            DoctorAnswer.self,
            "`doctor --json`: what is wrong, in words, with what to do; the worst first."
        ),
        SchemaFile(
            "drift",
            DriftAnswer.self,
            "`drift --json`: customers folded again from the log, held against what the views answer."
        ),
        SchemaFile(
            "erasure",
            ErasureAnswer.self,
            "`erase --json`, and DELETE /v1/customers/{id}."
        ),
        SchemaFile("erasure-plan", ErasurePlanAnswer.self, "`erase --dry-run --json`."),
        SchemaFile(
            "event",
            .input(EventSchema.members, title: "An event"),
            "A CloudEvents 1.0 object: what `import --format events` reads and `events --json` prints. `sequence` and `recordedtime` are set by the ledger; in input `recordedtime` counts with --preserve-recorded-time only. `customer.erased` is appended by an erasure only. `evidence` is printed by `events --raw` and is not read."
        ),
        SchemaFile(
            "explain",
            ExplanationAnswer.self,
            "`explain --json`: steps and remarks name the rule and, where one says so, the event."
        ),
        SchemaFile(
            "import",
            ImportAnswer.self,
            "`import --json`. Counts are of items: lines, or webhooks of a line that holds several."
        ),
        SchemaFile("extension", ExtensionAnswer.self, "`extend --json`."),
        SchemaFile(
            "entitlement-changed",
            EntitlementChanged.self,
            "`data` of a message `entitlement.changed`, which webhooks are sent."
        ),
        SchemaFile(
            "ledger-alert",
            LedgerAlert.self,
            "`data` of a message `ledger.alert`, which webhooks are sent that ask for it."
        ),
        SchemaFile("export", ExportAnswer.self, "`export --json`."),
        SchemaFile(
            "export-manifest",
            ExportManifestAnswer.self,
            "`manifest.json`; `manifest.note` is the ledger's signature over it."
        ),
        SchemaFile("heal", HealAnswer.self, "`salvage --heal --json`."),
        SchemaFile(
            "products",
            ProductsAnswer.self,
            "`products --json`: what stores said last of what they sell, with its age."
        ),
        SchemaFile(
            "purchases",
            PurchasesAnswer.self,
            "`GET /v1/customers/{id}/purchases`: each purchase as in `show`, and its periods."
        ),
        SchemaFile(
            "receipt",
            ReceiptAnswer.self,
            "`claim`, `transfer`, `release`, `grant`, `withdraw`, `trial`, `link`, `use` and `catalog publish` with --json."
        ),
        SchemaFile("replay", ReplayAnswer.self, "`replay --json`."),
        SchemaFile(
            "report",
            .oneOf(
                [
                    CustomersAnswer.self, RowsAnswer<RevenueRow>.self, RowsAnswer<RefundRow>.self,
                    RowsAnswer<FunnelRow>.self, AlertRowsAnswer<StageRow>.self,
                    AlertRowsAnswer<ErrorRow>.self, RowsAnswer<ExperimentRow>.self,
                ],
                title: "A report"
            ),
            "`report --json` and `GET /v1/reports/…`. What lies in [from, to) and had come to pass at `at`, as known at R."
        ),
        SchemaFile(
            "show",
            StateAnswer.self,
            "`show --json`, and each line that `show --questions` prints."
        ),
        SchemaFile("status", StatusAnswer.self, "`status --json`."),
        SchemaFile(
            "sync",
            SyncAnswer.self,
            "`sync CUSTOMER --json`, and `POST /v1/customers/{id}/sync`."
        ),
        SchemaFile(
            "test-notification",
            TestNotificationAnswer.self,
            "A line of `test-notification --json`, of an app each."
        ),
        SchemaFile(
            "timeline",
            TimelineAnswer.self,
            "`timeline --json`: stretches over effective time, half-open, and the events behind them in the order of the log."
        ),
        SchemaFile(
            "verify",
            VerificationAnswer.self,
            "`verify --json`, and POST /v1/customers/{id}/verify. All payloads are counted; the list holds at most a thousand."
        ),
        SchemaFile(
            "webhook",
            Webhook.self,
            "`webhooks add|disable|enable|rotate --json`, and `POST /v1/webhooks`."
        ),
        SchemaFile(
            "webhook-deliveries",
            WebhookDeliveriesAnswer.self,
            "`webhooks deliveries --json`."
        ),
        SchemaFile("webhook-resend", WebhookResendAnswer.self, "`webhooks resend --json`."),
        SchemaFile("webhook-test", WebhookTestAnswer.self, "`webhooks test --json`."),
        SchemaFile("webhooks", WebhooksAnswer.self, "`webhooks list --json`."),
        SchemaFile(
            "whatif",
            WhatIfAnswer.self,
            "`whatif --json`, and `affected` of `catalog diff --json`. The counts are exact; the lists hold at most `--samples` entries each."
        ),
        SchemaFile(
            "whatif-line",
            WhatIfLine.self,
            "A line of the file that `whatif --output` writes; in no order."
        ),
    ]

    /// The document.
    package var document: JSONValue {
        .object(
            [
                JSONMember("$schema", "https://json-schema.org/draft/2020-12/schema"),
                JSONMember(
                    "$id",
                    .string("https://entitlement-ledger.example/schemas/\(name).schema.json")
                ),
            ] + members
        )
    }

    private var members: [JSONMember] {
        switch content {
        case .common: Self.common
        case .answer(let answer):
            heading(answer.title) + (answer.schema(in: .file).members ?? [])
                + Self.definitions(answer.parts)
        case .input(let members, let title): heading(title) + members
        case .oneOf(let answers, let title):
            heading(title) + [
                JSONMember(
                    "oneOf",
                    .array(answers.map { .members(["$ref": .string($0.reference(in: .file))]) })
                )
            ] + Self.definitions(reaching(answers.map { .described($0) }))
        }
    }

    private func heading(_ title: String) -> [JSONMember] {
        [JSONMember("title", .string(title))]
            + (about.map { [JSONMember("description", .string($0))] } ?? [])
            + [JSONMember("$comment", "Written by tools/check-schemas --write.")]
    }

    private static func definitions(_ parts: [any Described.Type]) -> [JSONMember] {
        parts.isEmpty
            ? []
            : [
                JSONMember(
                    "$defs",
                    .object(
                        parts.map { JSONMember($0.componentName, $0.schema(in: .file)) }
                    )
                )
            ]
    }

    private static var common: [JSONMember] {
        [
            JSONMember("title", "What several schemas share"),
            JSONMember(
                "$comment",
                "Limits of text are bytes of UTF-8; maxLength counts characters, so it is the looser of the two. Written by tools/check-schemas --write."
            ),
            JSONMember(
                "$defs",
                .object(
                    CommonShape.allCases.map { shape in
                        let about = shape.about.map { JSONMember("description", .string($0)) }
                        return JSONMember(
                            shape.rawValue,
                            .object([about].compactMap(\.self) + (shape.schema.members ?? []))
                        )
                    }
                )
            ),
        ]
    }
}

extension Described {
    /// The name of its component in the interface description.
    package static var componentName: String { fields.name }

    fileprivate static var title: String { fields.title }
}
