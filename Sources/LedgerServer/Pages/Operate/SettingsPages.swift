package import Encodings
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Presentation

/// Keys and what the server goes by: what `entitle keys` and `entitle config show` do and tell.
extension PageTable {
    static let settingsPages: [Route] = [
        .page(
            "/console/settings",
            "showSettingsPage",
            "Keys, stores, and what the server goes by.",
            [.admin]
        ) { call, service in try await settings(call, service, made: nil) },
        .form(
            "/console/settings/keys",
            "createKeyFromPage",
            "Makes a key and shows it, this once.",
            .page([.admin]),
            fields: Scope.allCases.map { SettingsPage.field(ofScope: $0.rawValue) }
                + ["name", "days"],
            isLocal: true,
            createKey
        ),
        .form(
            "/console/settings/keys/revoke",
            "revokeKeyFromPage",
            "Ends a key.",
            .page([.admin]),
            fields: ["key"],
            isLocal: true
        ) { call, form, service in
            let id = form[.key] ?? ""
            try await changeKeys(service) { file in
                guard file.revoke(id) else { throw Problem(.notFound, "there is no such key") }
            }
            return .seeOther(call.link(["settings"]))
        },
    ]

    @Sendable
    private static func createKey(
        _ call: Call,
        _ form: Query,
        _ service: LedgerService
    ) async throws -> Answer {
        let scopes = Scope.allCases.filter { form[SettingsPage.field(ofScope: $0.rawValue)] != nil }
        guard !scopes.isEmpty else {
            throw Problem(.missingField, "a key has a scope", path: "scope")
        }
        let name = form["name"].flatMap { $0.isEmpty ? nil : $0 }
        if let name, !APIKey.isValidName(name) {
            throw Problem(
                .invalidValue,
                "1 to \(APIKey.nameByteLimit) bytes without control characters",
                path: "name"
            )
        }
        let days = try days(form)
        var randomness = RandomSource.system
        let (key, text) = APIKey.make(
            name: name,
            scopes: ScopeSet(scopes),
            createdAt: call.now,
            // Fits: ten years.
            expiresAt: days.map {
                call.now.advanced(byMilliseconds: $0 * Instant.millisecondsPerDay)
            },
            using: &randomness
        )
        let maker = call.caller.keyID
        try await changeKeys(service) { file in
            if let maker, !file.allows(key, madeBy: maker) {
                throw Problem(.outOfRange, "it would outlive the key that makes it", path: "days")
            }
            guard file.add(key) else {
                throw Problem(.conflict, "there are \(KeyFile.keyLimit) keys already")
            }
        }
        return try call.answer(await settings(call, service, made: text), service)
    }

    /// After how many days a key ends; nil: the field is empty, and it does not.
    private static func days(_ form: Query) throws(Problem) -> Int64? {
        guard let text = form["days"], !text.isEmpty else { return nil }
        // Who writes what cannot be read wants an end all the same.
        guard let days = Int64(text), (1...3650).contains(days) else {
            throw Problem(.outOfRange, "expected 1 to 3650", path: "days")
        }
        return days
    }

    private static func changeKeys(
        _ service: LedgerService,
        _ body: @escaping @Sendable (inout KeyFile) throws -> Void
    ) async throws {
        guard let directory = service.directory else {
            throw Problem(.notConfigured, "the ledger stands in no directory")
        }
        let cluster = service.cluster
        try await service.blocking {
            if let cluster {
                return try cluster.changeCommonFile(Name(KeyFile.name)) { bytes in
                    var file = try bytes.map { try KeyFile(parsing: $0) } ?? KeyFile()
                    try body(&file)
                    return file.bytes
                }
            }
            try SmallFile.change(KeyFile.name, ofLedgerAt: directory) {
                var file = try KeyFile.read(at: directory)
                try body(&file)
                return file.bytes
            }
        }
    }

    private static func settings(
        _ call: Call,
        _ service: LedgerService,
        made: String?
    ) async throws -> Page {
        let keys = try await service.blocking {
            try service.directory.map { try KeyFile.read(at: $0).keys }
        }
        let stores = service.stores
        let configuration = service.settings.answer
        var page = SettingsPage(
            language: call.language,
            keys: keys?.map { key in
                SettingsPage.Key(
                    id: key.id,
                    name: key.name,
                    scopes: key.scopes.named.map(\.rawValue),
                    createdAt: key.createdAt,
                    expiresAt: key.expiresAt,
                    isOver: key.expiresAt.map { $0 <= call.now } ?? false
                )
            },
            configuration: configuration,
            stores: [
                SettingsPage.Store(
                    name: "app_store",
                    isHeard: stores.appStore != nil,
                    mayBeAsked: stores.clients.appStore != nil
                ),
                SettingsPage.Store(
                    name: "play_store",
                    isHeard: stores.playStore != nil,
                    mayBeAsked: stores.clients.playStore != nil
                ),
                SettingsPage.Store(
                    name: "revenuecat",
                    isHeard: stores.revenueCat != nil,
                    mayBeAsked: stores.clients.revenueCat != nil
                ),
            ],
            scopes: Scope.allCases.map(\.rawValue)
        )
        page.made = made
        if let session = call.session {
            page.form = (
                call.link(["settings", "keys"]), call.link(["settings", "keys", "revoke"]),
                session.formToken
            )
        }
        var body = XMLText()
        page.write(to: &body)
        return Page(
            title: SettingsPage.title(in: call.language),
            section: .settings,
            body: body,
            json: Array(
                JSONValue.members([
                    "keys": keys.map { .array($0.map(\.shown)) } ?? .null,
                    "configuration": configuration.jsonValue,
                ])
                .description.utf8
            ),
            rows: Page.Rows(
                columns: ConfigurationAnswer.Setting.columns,
                cells: configuration.settings.map(\.cells)
            ),
            command: "entitle keys list"
        )
    }
}

extension KeyFile {
    /// Whether a key may make another one: it stands, and the other ends no later than it does itself.
    fileprivate func allows(_ key: APIKey, madeBy maker: String) -> Bool {
        guard let own = keys.first(where: { $0.id == maker }) else { return false }
        guard let end = own.expiresAt else { return true }
        return key.expiresAt.map { $0 <= end } ?? false
    }
}

extension APIKey {
    /// What `keys list` shows.
    package var shown: JSONValue {
        .members([
            "id": .string(id), "name": .optional(name),
            "scopes": .strings(scopes.named.map(\.rawValue)),
            "createdAt": .instant(createdAt), "expiresAt": .instant(expiresAt),
        ])
    }
}
