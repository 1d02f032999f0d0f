package import Entitlements

/// Somebody who is told of what happens by requests to an address of theirs.
package struct Webhook: Described {
    /// Its id.
    package var id: String
    /// The address.
    package var url: String
    /// Types of events that are told, `entitlement.changed` among them; `*` is all.
    package var types: [String]
    /// The environments that are told of.
    package var environments: [StoreEnvironment]
    /// Whether changes of access are told that a catalog made.
    package var tellsCatalogChanges: Bool
    /// Whether the address may be one of a network of one's own.
    package var mayBePrivate: Bool
    /// When it was added.
    package var createdAt: Instant
    /// Whether it is told of anything now.
    package var state: State
    /// Why it is told of nothing; nil: it is.
    package var disabledBecause: Cause?
    /// The number of the secret that signs.
    package var secretNumber: UInt64
    /// Until when the secret before it signs too; nil: there is none.
    package var lastSecretEndsAt: Instant?
    /// Deliveries that are tried again, or wait for one that is; nil: they are not counted.
    package var waiting: Int?
    /// Deliveries that are not tried any more; nil: they are not counted.
    package var dead: Int?
    /// Notices that were not looked at for it yet; nil: they are not counted.
    package var behind: UInt64?
    /// The secret, where it is shown: once when it is made.
    package var secret: String?

    /// Whether it is told.
    package enum State: String, Sendable, CaseIterable { case enabled, disabled }

    /// Why it is told of nothing.
    package enum Cause: String, Sendable, CaseIterable {
        /// Somebody asked for it.
        case asked
        /// It answered that it is gone (410).
        case gone
    }

    /// Makes one that is told from now on.
    package init(
        id: String,
        url: String,
        types: [String],
        environments: [StoreEnvironment],
        tellsCatalogChanges: Bool,
        mayBePrivate: Bool,
        createdAt: Instant
    ) {
        self.init(
            id,
            url,
            types,
            environments,
            tellsCatalogChanges,
            mayBePrivate,
            createdAt,
            .enabled,
            nil,
            1,
            nil
        )
    }

    private init(
        _ id: String,
        _ url: String,
        _ types: [String],
        _ environments: [StoreEnvironment],
        _ tellsCatalogChanges: Bool,
        _ mayBePrivate: Bool,
        _ createdAt: Instant,
        _ state: State,
        _ disabledBecause: Cause?,
        _ secretNumber: UInt64,
        _ lastSecretEndsAt: Instant?,
        _ waiting: Int? = nil,
        _ dead: Int? = nil,
        _ behind: UInt64? = nil,
        _ secret: String? = nil
    ) {
        self.id = id
        self.url = url
        self.types = types
        self.environments = environments
        self.tellsCatalogChanges = tellsCatalogChanges
        self.mayBePrivate = mayBePrivate
        self.createdAt = createdAt
        self.state = state
        self.disabledBecause = disabledBecause
        self.secretNumber = secretNumber
        self.lastSecretEndsAt = lastSecretEndsAt
        self.waiting = waiting
        self.dead = dead
        self.behind = behind
        self.secret = secret
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Webhook",
        "Somebody who is told of what happens",
        { Self($0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) }
    ) {
        Field("id", \.id, .text)
        Field("url", \.url, .text)
        Field("types", \.types, .list(.text), "Types of events; `*` is all")
        Field("environments", \.environments, .list(.environment))
        Field(
            "catalogChanges",
            \.tellsCatalogChanges,
            .boolean,
            "Whether changes of access are told that a catalog made"
        )
        Field(
            "privateAddress",
            \.mayBePrivate,
            .boolean,
            "Whether the address may be one of a network of one's own"
        )
        Field("createdAt", \.createdAt, .instant)
        Field("state", \.state, .word)
        Field("disabledBecause", \.disabledBecause, .orNull(.word))
        Field("secretNumber", \.secretNumber, .count, "The number of the secret that signs")
        Field(
            "lastSecretEndsAt",
            \.lastSecretEndsAt,
            .orNull(.instant),
            "Until when the secret before it signs too"
        )
        Field("waiting", \.waiting, .orAbsent(.count), "Deliveries that are tried again")
        Field("dead", \.dead, .orAbsent(.count), "Deliveries that are not tried any more")
        Field("behind", \.behind, .orAbsent(.count), "Notices that were not looked at for it yet")
        Field("secret", \.secret, .orAbsent(.text), "Shown once, when it is made")
    }
}

/// All who are told.
package struct WebhooksAnswer: Described {
    /// In the order of their ids.
    package var webhooks: [Webhook]

    /// Makes an answer.
    package init(webhooks: [Webhook]) { self.webhooks = webhooks }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Webhooks", "All who are told", Self.init) {
        Field("webhooks", \.webhooks, .list(.object))
    }
}
