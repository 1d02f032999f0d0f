import Encodings
package import Entitlements

/// What the App Store is asked to do.
extension AppStoreServerAPI {
    /// Moves the renewal date of a subscription; its customer has access until then
    /// (developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date).
    ///
    /// `days`: 1 to 90, twice a year. `id`: the same again is the same request.
    ///
    /// - Returns: the new end; nil: it did not move it.
    /// - Throws: `StoreFault`, `.rejected` for a subscription whose date it does not move.
    package func extend(
        _ originalID: String,
        byDays days: Int,
        because reason: AppStoreExtensionReason,
        id: String,
        in environment: StoreEnvironment
    ) async throws(StoreFault) -> Instant? {
        let answer = try await ofAnyApp(
            Self.extensionPath + originalID.pathSegment,
            environment,
            putting: .members([
                "extendByDays": .integer(Int64(days)),
                "extendReasonCode": .integer(reason.code), "requestIdentifier": .string(id),
            ])
        )
        guard answer["success"]?.bool == true else { return nil }
        guard let end = answer["effectiveDate"]?.integer else { throw StoreFault(.malformed) }
        return Instant(milliseconds: end)
    }

    static let extensionPath = "/inApps/v1/subscriptions/extend/"

    /// Asks for a test notification to the address that is set for an app
    /// (developer.apple.com/documentation/appstoreserverapi/request-a-test-notification).
    ///
    /// - Returns: what its outcome is asked by.
    package func requestTest(
        about bundleID: String,
        in environment: StoreEnvironment
    ) async throws(StoreFault) -> String {
        let answer = try await ask(.post, Self.testPath, nil, environment, bundleID)
        guard let token = answer["testNotificationToken"]?.string else {
            throw StoreFault(.malformed)
        }
        return token
    }

    /// What each attempt to send a test notification came to, in the App Store's words, the first one first;
    /// none: it was not sent yet
    /// (developer.apple.com/documentation/appstoreserverapi/get-test-notification-status).
    package func attempts(
        ofTest token: String,
        about bundleID: String,
        in environment: StoreEnvironment
    ) async throws(StoreFault) -> [String] {
        do throws(StoreFault) {
            let path = Self.testPath + "/" + token.pathSegment
            let answer = try await ask(.get, path, nil, environment, bundleID)
            return (answer["sendAttempts"]?.array ?? []).compactMap {
                $0["sendAttemptResult"]?.string
            }
        } catch  where error.code == .notFound {
            return []
        }
    }

    static let testPath = "/inApps/v1/notifications/test"

    /// Answers that a customer asks for their money back
    /// (developer.apple.com/documentation/appstoreserverapi/send-consumption-information).
    package func send(
        _ consumption: AppStoreConsumption,
        of transactionID: String,
        in environment: StoreEnvironment
    ) async throws(StoreFault) {
        _ = try await ofAnyApp(
            "/inApps/v2/transactions/consumption/" + transactionID.pathSegment,
            environment,
            putting: consumption.json
        )
    }
}

/// Why a renewal date is moved
/// (developer.apple.com/documentation/appstoreserverapi/extendreasoncode).
package enum AppStoreExtensionReason: String, CaseIterable, Sendable {
    case undeclared, satisfaction, other, outage

    /// Apple's number for it.
    var code: Int64 {
        switch self {
        case .undeclared: 0
        case .satisfaction: 1
        case .other: 2
        case .outage: 3
        }
    }
}

/// What was made of a purchase whose customer asks for their money back
/// (developer.apple.com/documentation/appstoreserverapi/consumptionrequest).
///
/// The App Store takes it only where the customer agreed that it is told.
package struct AppStoreConsumption: Hashable, Sendable {
    /// Whether it was delivered, or why not.
    package var delivery: Delivery
    /// Whether it could be tried before it was bought.
    package var isSampled: Bool
    /// Per cent that was used, 0 to 100; nil: not said, as for subscriptions that renew.
    package var percentage: Int?
    /// What we wish for; nil: not said.
    package var preference: Preference?

    /// Whether it was delivered and works.
    package enum Delivery: String, CaseIterable, Sendable {
        case delivered
        case qualityIssue = "quality_issue"
        case wrongItem = "wrong_item"
        case serverOutage = "server_outage"
        case other
    }

    /// What we wish for.
    package enum Preference: String, CaseIterable, Sendable {
        case decline
        case grantFull = "grant_full"
        case grantProrated = "grant_prorated"
    }

    /// Names it; `percentage`: 0 where it was not delivered, as the App Store wants it.
    package init(
        delivery: Delivery,
        isSampled: Bool,
        percentage: Int? = nil,
        preference: Preference? = nil
    ) {
        precondition(percentage.map { (0...100).contains($0) } ?? true, "per cent")
        self.delivery = delivery
        self.isSampled = isSampled
        self.percentage = delivery == .delivered ? percentage : 0
        self.preference = preference
    }

    /// The body of the question, in Apple's words.
    var json: JSONValue {
        let status = delivery == .delivered ? "" : "undelivered_"
        var members = [
            JSONMember("customerConsented", .bool(true)),
            JSONMember("deliveryStatus", .string((status + delivery.rawValue).uppercased())),
            JSONMember("sampleContentProvided", .bool(isSampled)),
        ]
        if let percentage {
            // Thousandths of a per cent.
            members.append(JSONMember("consumptionPercentage", .integer(Int64(percentage) * 1000)))
        }
        if let preference {
            members.append(
                JSONMember("refundPreference", .string(preference.rawValue.uppercased()))
            )
        }
        return .object(members)
    }
}
