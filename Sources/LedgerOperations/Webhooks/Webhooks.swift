import Encodings
package import EntitlementLedger
package import Entitlements
package import EventLog
import Foundation
import LMDBStorage
package import LedgerAPI

/// Those who are told of what happens in a ledger, and what they did not take: kept beside the log, so that
/// the command and a running server change the same (Interfaces, "Webhooks").
///
/// A backup holds none of it: a ledger that is restored elsewhere tells nobody a second time.
package final class Webhooks: Sendable {
    let store: DeliveryStore
    /// The ledger that is told of.
    package let ledger: Ledger
    /// What the machines of a cluster hold in common; nil: the ledger stands on one machine.
    package let share: DeliveryShare?

    /// How many may be told.
    package static let countLimit = 100
    /// Types that one may name.
    private static let typeLimit = 64
    /// Milliseconds for which the secret before a new one signs too.
    private static let secretOverlap = Instant.millisecondsPerDay

    /// Opens what is kept beside a ledger in a directory.
    ///
    /// `journal`: where the machines of a cluster hold it in common; nil: it is of none.
    ///
    /// - Throws: `LogStorageFault`.
    package convenience init(
        ofLedgerAt path: String,
        _ ledger: Ledger,
        sharedIn journal: (any ClusterDeliveries)? = nil
    ) throws {
        try self.init(in: path + "/" + DeliveryStore.folderName, ledger, sharedIn: journal)
    }

    /// Opens what is kept in a folder, which is made where there is none.
    ///
    /// - Throws: `LogStorageFault`.
    package init(
        in folder: String,
        _ ledger: Ledger,
        sharedIn journal: (any ClusterDeliveries)? = nil
    ) throws {
        let store = try DeliveryStore(path: folder)
        (self.store, self.ledger) = (store, ledger)
        share = try journal.map {
            DeliveryShare(store, in: $0, sealedBy: try ledger.prover.seal(for: "deliveries"))
        }
    }

    /// Opens what is kept beside a ledger, to be read; nil: nothing is.
    ///
    /// - Throws: `LogStorageFault`.
    package init?(reading path: String, _ ledger: Ledger) throws {
        let folder = path + "/" + DeliveryStore.folderName
        guard FileManager.default.fileExists(atPath: folder) else { return nil }
        store = try DeliveryStore(path: folder, isReadOnly: true)
        self.ledger = ledger
        share = nil
    }

    /// Ends the use of what is kept.
    package func close() { store.close() }

    /// Does what somebody asked for: on a machine of a cluster where it leads alone, and so that whoever leads
    /// next knows of it.
    ///
    /// - Throws: what `body` does; `LogStorageFault.noLeader`.
    package func changing<Result>(_ body: () throws -> Result) throws -> Result {
        guard let share else { return try body() }
        return try share.change(body)
    }

    /// Somebody new, as they ask to be told.
    package struct Wish: Sendable {
        /// The address.
        package var url: String
        /// Types of events; empty: changes of access.
        package var types: [String] = []
        /// Environments; empty: production.
        package var environments: [StoreEnvironment] = []
        /// Whether changes of access are told that a catalog made.
        package var tellsCatalogChanges = false
        /// Whether the address may be one of a network of one's own.
        package var mayBePrivate = false

        /// Asks for changes of access in production.
        package init(url: String) { self.url = url }
    }

    /// Adds somebody who is told of what happens from now on.
    ///
    /// - Returns: the webhook with its secret, this once; nil: there are too many.
    /// - Throws: `InputFault` for a wish that cannot be met.
    package func add(
        _ wish: Wish,
        at now: Instant,
        using randomness: inout RandomSource
    ) throws -> Webhook? {
        _ = try HTTPAddress(wish.url, mayBePrivate: wish.mayBePrivate)
        guard wish.types.count <= Self.typeLimit else {
            throw InputFault(.outOfRange, "types", "at most \(Self.typeLimit)")
        }
        guard wish.types.allSatisfy(Self.isType) else {
            throw InputFault(
                .invalidValue,
                "types",
                "expected types of events, \(Notice.changeType), \(Notice.alertType), or *"
            )
        }
        guard try store.endpointBytes().count < Self.countLimit else { return nil }
        while true {
            let number = randomness.next() >> 1
            var webhook = Webhook(
                id: Self.id(of: number),
                url: wish.url,
                types: wish.types.isEmpty ? [Notice.changeType] : Set(texts: wish.types).texts,
                environments: wish.environments.isEmpty
                    ? [.production] : Set(wish.environments).sorted { $0.rawValue < $1.rawValue },
                tellsCatalogChanges: wish.tellsCatalogChanges,
                mayBePrivate: wish.mayBePrivate,
                createdAt: now
            )
            let begun = DeliveryProgress(
                size: try ledger.questions.size(),
                instant: now.milliseconds
            )
            // A number that was drawn twice is drawn again.
            guard try store.addEndpoint(number, Self.bytes(webhook), from: begun) else { continue }
            webhook.secret = try secret(webhook.secretNumber, of: webhook).text
            return webhook
        }
    }

    private static func isType(_ type: String) -> Bool {
        if ["*", Notice.changeType, Notice.alertType].holds(type) { return true }
        return EventKind(name: type).map(FeedReader.application.shows) ?? false
    }

    /// The ids of those who are told of something now.
    package func enabledIDs() throws -> [String] {
        try store.endpointBytes().compactMap { try Self.webhook($0.bytes) }
            .filter { $0.state == .enabled }.map(\.id)
    }

    /// The number that the next notice gets: what is noticed makes it larger.
    package func nextNotice() throws -> UInt64 { try store.nextNotice() }

    /// Milliseconds until time changes something of a customer's; nil: that is longer.
    package func nextLook(within milliseconds: Int64, from now: Instant) throws -> Int64? {
        let end = now.advanced(byMilliseconds: milliseconds)
        // Fits: what is late was looked at before.
        return try store.looks(upTo: end.milliseconds, limit: 1).first
            .map { max(1, $0.instant - now.milliseconds) }
    }

    /// Those who are told, with what waits for them.
    package func all() throws -> [Webhook] {
        try store.endpointBytes().compactMap { number, bytes in
            try Self.webhook(bytes).map { try counted($0, number) }
        }
    }

    /// One who is told, with what waits for them; nil: there is none of that id.
    package func webhook(_ id: String) throws -> Webhook? {
        guard let number = Self.number(of: id), let bytes = try store.endpoint(number) else {
            return nil
        }
        return try Self.webhook(bytes).map { try counted($0, number) }
    }

    private func counted(_ webhook: Webhook, _ number: UInt64) throws -> Webhook {
        var webhook = webhook
        webhook.waiting = try store.waiting(for: number).count
        webhook.dead = try store.dead(of: number).count
        let next = try store.nextNotice()
        webhook.behind = try store.cursor(of: number).map { next >= $0 ? next - $0 : 0 }
        return webhook
    }

    /// Removes one, with what waits for them; false: there is none of that id.
    package func remove(_ id: String) throws -> Bool {
        guard let number = Self.number(of: id) else { return false }
        return try store.removeEndpoint(number)
    }

    /// Tells one nothing until it is enabled again; what happens meanwhile waits.
    ///
    /// - Returns: nil: there is none.
    package func disable(_ id: String, because cause: Webhook.Cause) throws -> Webhook? {
        try change(id) { webhook in
            webhook.state = .disabled
            webhook.disabledBecause = cause
        }
    }

    /// Tells one again, of what happened meanwhile too.
    ///
    /// - Returns: nil: there is none.
    package func enable(_ id: String) throws -> Webhook? {
        try change(id) { webhook in
            webhook.state = .enabled
            webhook.disabledBecause = nil
        }
    }

    /// Makes a new secret; the one before signs too for a day, so that who receives can change over.
    ///
    /// - Returns: the webhook with the new secret, this once; nil: there is none.
    package func rotateSecret(of id: String, at now: Instant) throws -> Webhook? {
        let changed = try change(id) { webhook in
            webhook.secretNumber += 1  // Fits: by hand, one at a time.
            webhook.lastSecretEndsAt = now.advanced(byMilliseconds: Self.secretOverlap)
        }
        return try changed.map { webhook in
            var webhook = webhook
            webhook.secret = try secret(webhook.secretNumber, of: webhook).text
            return webhook
        }
    }

    private func change(_ id: String, _ body: (inout Webhook) -> Void) throws -> Webhook? {
        guard let number = Self.number(of: id) else { return nil }
        return try store.changeEndpoint(number) { bytes in
            guard var webhook = try Self.webhook(bytes) else { return (bytes, nil) }
            body(&webhook)
            return (Self.bytes(webhook), webhook)
        } ?? nil
    }

    /// The secrets that sign for one now, the newest first.
    package func secrets(of webhook: Webhook, at now: Instant) throws -> [WebhookSecret] {
        var secrets = [try secret(webhook.secretNumber, of: webhook)]
        if let end = webhook.lastSecretEndsAt, now < end, webhook.secretNumber > 1 {
            secrets.append(try secret(webhook.secretNumber - 1, of: webhook))
        }
        return secrets
    }

    private func secret(_ number: UInt64, of webhook: Webhook) throws -> WebhookSecret {
        try ledger.prover.webhookSecret(number, of: webhook.id)
    }

    static let idPrefix = "wh_"

    static func id(of number: UInt64) -> String {
        idPrefix + Hexadecimal.encode(number.bigEndianBytes)
    }

    /// The number of a webhook's id; nil: it is none.
    static func number(of id: String) -> UInt64? {
        guard id.hasPrefix(idPrefix),
            let bytes = Hexadecimal.decode(String(id.dropFirst(idPrefix.count))),
            bytes.count == 8
        else { return nil }
        return UInt64(bigEndianBytes: bytes)
    }

    static func bytes(_ webhook: Webhook) -> [UInt8] { AnswerText(webhook).bytes }

    /// Reads a webhook as it is kept; nil: it is one of a later version's.
    static func webhook(_ bytes: [UInt8]) throws -> Webhook? {
        // What cannot be read is none of this version's.
        try? Webhook.fields.read(JSONValue(parsing: bytes))
    }
}

extension Webhook {
    /// Whether somebody is told of something.
    package func wants(_ notice: Notice) -> Bool {
        environments.contains(notice.environment)
            && (types.holds(notice.type) || types.holds("*"))
            && (tellsCatalogChanges || !notice.isByCatalog)
    }
}
