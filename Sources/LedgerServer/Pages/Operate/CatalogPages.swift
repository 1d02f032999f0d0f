import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Presentation

/// What is sold and what it unlocks, for people (Z3): who may read it sees it, who may ask what if tries
/// another one, and who may publish publishes it.
extension PageTable {
    static let catalogPages: [Route] = [
        .page(
            "/console/catalog",
            "showCatalogPage",
            "The catalog in force, those before it, and what differs between two.",
            [.read, .support],
            parameters: [
                Route.Parameter(name: "from", text: "The version before", shape: .sequence),
                Route.Parameter(name: "to", text: "The version after", shape: .sequence),
            ],
            catalog
        ),
        .form(
            "/console/catalog/draft",
            "tryCatalogFromPage",
            "What is wrong with a catalog, what differs, and whom it affects; records nothing.",
            .page([.read, .support]),
            fields: ["document", "effective"],
            isLocal: true,
            byteLimit: formByteLimit,
            draft
        ),
        .form(
            "/console/catalog/publish",
            "publishCatalogFromPage",
            "Publishes a catalog that was tried.",
            .page([.admin]),
            fields: ["document", "effective", "request"],
            byteLimit: formByteLimit,
            publish
        ),
    ]

    /// A catalog as a form writes it: three bytes for one at most.
    private static let formByteLimit = 3 * RouteTable.catalogByteLimit
    /// Versions of the page.
    private static let versionLimit = 50

    @Sendable
    private static func catalog(_ call: Call, _ service: LedgerService) async throws -> Page {
        let point = try call.point()
        let wanted = try [(QueryName.from, "from"), (.to, "to")].map { name, text throws(Problem) in
            try call.query[name].map { value throws(Problem) in try Query.sequence(value, text) }
        }
        let (document, gates, versions, compared, size) = try await service.blocking {
            let questions = service.ledger.questions
            let size = try questions.prefix(knownAt: point.knownAt)
            let history = try questions.catalogHistory(size: size)
            let index = history.index(at: point.at)
            let inForce = index.map { history.publications[$0].sequence }
            let versions = history.publications.map { publication in
                CatalogPage.Version(
                    sequence: publication.sequence,
                    effective: publication.time,
                    isInForce: publication.sequence == inForce
                )
            }
            func document(_ sequence: UInt64?) throws -> JSONValue? {
                guard let sequence else { return nil }
                let event = try questions.event(at: sequence)
                guard let event, event.event.data.kind == .catalogPublished else {
                    throw Problem(.unknownSequence, "no catalog was published there")
                }
                return event.event.data.document
            }
            var compared: (from: UInt64?, to: UInt64?, difference: CatalogDifference)?
            if let after = try document(wanted[1]) {
                compared = (
                    wanted[0], wanted[1],
                    CatalogDifference(from: try document(wanted[0]), to: after)
                )
            }
            return (
                try document(inForce),
                index.map {
                    GateMap(
                        history.publications[$0].catalog,
                        validUntil: history.next(after: point.at)
                    )
                },
                versions.sorted { $0.sequence > $1.sequence }.prefix(versionLimit), compared, size
            )
        }
        return made(
            of: CatalogPage(
                language: call.language,
                document: document,
                gates: gates,
                versions: Array(versions),
                path: { call.readsAll ? call.link(toEvent: $0) : nil }
            ),
            compared,
            size,
            call
        )
    }

    private static func made(
        of shown: CatalogPage,
        _ compared: (from: UInt64?, to: UInt64?, difference: CatalogDifference)?,
        _ size: UInt64,
        _ call: Call
    ) -> Page {
        var page = shown
        page.compared = compared
        if let session = call.session {
            page.form = (call.link(["catalog", "draft"]), session.formToken)
        }
        var body = XMLText()
        page.write(to: &body)
        return Page(
            title: CatalogPage.title(in: call.language),
            section: .catalog,
            body: body,
            json: Array(
                JSONValue.members([
                    "catalog": page.document ?? .null, "gates": page.gates?.json ?? .null,
                    "versions": .array(page.versions.map(\.json)),
                    "difference": compared?.difference.jsonValue ?? .null,
                ])
                .description.utf8
            ),
            rows: Page.Rows(
                columns: ["sequence", "effective", "inForce"],
                cells: page.versions.map { version in
                    (version.json.members ?? []).map(\.value)
                }
            ),
            size: size,
            command: "entitle catalog show"
        )
    }

    @Sendable
    private static func draft(
        _ call: Call,
        _ form: Query,
        _ service: LedgerService
    ) async throws -> Answer {
        let text = form["document"] ?? ""
        let effective = form["effective"].flatMap { $0.isEmpty ? nil : $0 }
        let instant = try effective.map { text throws(Problem) in
            try call.instant(text, "effective")
        }
        let environment = try call.environment()
        let mayAsk = call.caller.has(.audit)
        let read = try await service.blocking { service.read(catalog: text) }
        var page = CatalogDraftPage(
            language: call.language,
            text: text,
            effective: effective,
            validation: read.validation,
            again: call.link(["catalog", "draft"]),
            token: call.session?.formToken ?? "",
            customer: {
                call.caller.has(anyOf: [.support, .audit]) ? call.link(["customers", $0]) : nil
            }
        )
        if let document = read.document, let catalog = read.catalog {
            let point = BitemporalPoint(at: call.now, knownAt: .everything)
            page.difference = try await service.blocking {
                CatalogDifference(
                    from: try service.ledger.questions.catalogDocument(at: point),
                    to: document
                )
            }
            if mayAsk {
                let question = WhatIfQuestion(
                    catalog: catalog,
                    // Who has what once it holds.
                    point: BitemporalPoint(
                        at: max(instant ?? call.now, call.now),
                        knownAt: .everything
                    ),
                    environment: environment,
                    effective: instant
                )
                page.affected = try await service.reports.make {
                    try service.ledger.questions.whatIf(question)
                }
            }
            if call.caller.has(.admin) {
                page.publish = (call.link(["catalog", "publish"]), service.makeID())
            }
        }
        var body = XMLText()
        page.write(to: &body)
        return try call.answer(
            Page(
                title: page.title,
                section: .catalog,
                body: body,
                json: read.validation.jsonText.bytes,
                command: "entitle catalog diff catalog.json"
            ),
            service
        )
    }

    @Sendable
    private static func publish(
        _ call: Call,
        _ form: Query,
        _ service: LedgerService
    ) async throws -> Answer {
        guard let id = form["request"], Identifier.isValid(id) else {
            throw Problem(.missingField, "required", path: "request")
        }
        let effective = try form["effective"].flatMap { $0.isEmpty ? nil : $0 }.map {
            text throws(Problem) in
            try call.instant(text, "effective")
        }
        let text = form["document"] ?? ""
        let receipt = try await service.blocking {
            let read = service.read(catalog: text)
            guard let document = read.document else { throw Problem(catalog: read.faults) }
            return try service.ledger.appender.publish(
                document,
                effective: effective,
                // Whoever sends the form twice publishes once (E1).
                LedgerRequest(id: id, source: Source.catalog, environment: .production)
            )
        }
        _ = try SignalReceipt(receipt) { call.problem(of: $0) }
        return .seeOther(call.link(["catalog"]))
    }
}

extension LedgerService {
    /// A catalog's text as it is read: the document and what it says, unless something is wrong.
    struct ReadCatalog: Sendable {
        /// The document, its time zones resolved; nil: something is wrong.
        var document: JSONValue?
        /// What it says; nil likewise.
        var catalog: Catalog?
        /// What is wrong (K10).
        var faults: [InputFault] = []
        /// What is doubtful.
        var doubts: [CatalogDoubt] = []

        /// Both, for people.
        var validation: CatalogValidationAnswer {
            CatalogValidationAnswer(
                faults: faults.map { CatalogFaultAnswer($0) },
                warnings: doubts.map { CatalogFaultAnswer($0) }
            )
        }
    }

    /// Reads a catalog that somebody wrote.
    ///
    /// Cost: linear in the text, which may have megabytes.
    fileprivate func read(catalog text: String) -> ReadCatalog {
        var read = ReadCatalog()
        let bytes = Array(text.utf8)
        // As the interface holds a catalog: what a form adds to it is not counted there.
        guard bytes.count <= RouteTable.catalogByteLimit else {
            read.faults = [
                InputFault(
                    .outOfRange,
                    "",
                    "a catalog has at most \(RouteTable.catalogByteLimit) bytes"
                )
            ]
            return read
        }
        let given: JSONValue
        do throws(JSONFault) {
            given = resolveTimeZones(
                try JSONValue(parsing: bytes, placeLimit: JSONText.placeLimit(of: bytes))
            )
        } catch {
            read.faults = [
                InputFault(.malformed, "", "not JSON at byte \(error.offset): \(error.message)")
            ]
            return read
        }
        read.doubts = CatalogFile.doubts(given)
        do {
            read.catalog = try Catalog(document: given)
            read.document = given
        } catch {
            read.faults = error.all
        }
        return read
    }
}

extension CatalogPage.Version {
    fileprivate var json: JSONValue {
        .members([
            "sequence": .integer(sequence), "effective": .instant(effective),
            "inForce": .bool(isInForce),
        ])
    }
}
