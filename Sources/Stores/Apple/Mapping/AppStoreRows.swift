import Entitlements

/// The table of notifications: one row for each type and subtype
/// (developer.apple.com/documentation/appstoreservernotifications/notificationtype and subtype).
///
/// A row gives what the type adds. What the signed parts say stands beside it, whatever the type:
/// the period, its verdict and its revocation (`AppStorePeriod`), and what renews
/// (`AppStoreMapping`).
enum AppStoreRows {
    typealias Row = @Sendable (AppStoreStatement) throws(InputFault) -> [EventDraft]

    /// The row of a type and subtype; nil for those that have none.
    static func row(_ type: String, _ subtype: String?) -> Row? {
        rows[type]?[subtype ?? plain] ?? rowsOfAnySubtype[type]
    }

    /// The types and subtypes that have a row; a subtype is empty where none is sent.
    static var all: [(type: String, subtype: String)] {
        rows.flatMap { type, rows in rows.keys.map { (type, $0) } }
    }

    /// Stands for a notification without a subtype.
    private static let plain = ""

    private static let rows: [String: [String: Row]] = periodRows.merging(
        revocationRows.merging(notedRows) { row, _ in row }
    ) { row, _ in row }

    /// Periods: how they begin, go on and end.
    private static let periodRows: [String: [String: Row]] = [
        "SUBSCRIBED": ["INITIAL_BUY": sale, "RESUBSCRIBE": sale],
        "DID_RENEW": [plain: sale, "BILLING_RECOVERY": sale],
        "ONE_TIME_CHARGE": [plain: sale],
        "OFFER_REDEEMED": [
            plain: sale, "INITIAL_BUY": sale, "RESUBSCRIBE": sale, "UPGRADE": sale,
            "DOWNGRADE": sale,
        ],
        // An upgrade is a new period, which ends the running one by its start (P3); a downgrade
        // waits for the next renewal, and so stands in the renewal info only.
        "DID_CHANGE_RENEWAL_PREF": [plain: sale, "UPGRADE": sale, "DOWNGRADE": sale],
        "DID_CHANGE_RENEWAL_STATUS": [
            "AUTO_RENEW_ENABLED": { s throws(InputFault) in try s.renewalStatus(isOn: true) },
            "AUTO_RENEW_DISABLED": { s throws(InputFault) in
                try s.renewalStatus(isOn: false)
            },
        ],
        "DID_FAIL_TO_RENEW": [
            plain: { s throws(InputFault) in try s.retryStart() },
            "GRACE_PERIOD": { s throws(InputFault) in try s.graceStart() },
        ],
        "GRACE_PERIOD_EXPIRED": [plain: { s throws(InputFault) in try s.graceEnd() }],
        "EXPIRED": [
            plain: expiration, "VOLUNTARY": expiration, "BILLING_RETRY": expiration,
            "PRICE_INCREASE": expiration, "PRODUCT_NOT_FOR_SALE": expiration,
        ],
        "RENEWAL_EXTENDED": [plain: { s throws(InputFault) in try s.extendedEnd() }],
    ]

    private static let revocationRows: [String: [String: Row]] = [
        "REFUND": [plain: { s throws(InputFault) in try s.refund() }],
        "REFUND_REVERSED": [plain: { s throws(InputFault) in try s.refundReversal() }],
        "REVOKE": [plain: { s throws(InputFault) in try s.familyEnd() }],
    ]

    /// What changes no access.
    private static let notedRows: [String: [String: Row]] = [
        "PRICE_INCREASE": ["PENDING": noted, "ACCEPTED": noted],
        "PRICE_CHANGE": [plain: noted],
        "RENEWAL_EXTENSION": ["SUMMARY": noted, "FAILURE": noted],
        "REFUND_DECLINED": [plain: noted],
        "CONSUMPTION_REQUEST": [plain: noted],
        "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED": noted],
        "RESCIND_CONSENT": [plain: noted],
        "METADATA_UPDATE": [plain: noted],
        "MIGRATION": [plain: noted],
        "TEST": [plain: noted],
    ]

    /// Types that mean the same with whichever subtype: it is a reason only (Stores, rule 7).
    private static let rowsOfAnySubtype: [String: Row] = ["EXPIRED": expiration]

    private static let sale: Row = { s throws(InputFault) in try s.sale() }
    private static let expiration: Row = { s throws(InputFault) in try s.expiration() }
    private static let noted: Row = { s throws(InputFault) in s.note() }
}
