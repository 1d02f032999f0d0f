import Stores

/// What the tests' RevenueCat proves itself with.
enum RevenueCatSecret {
    static let header = "Bearer webhook-secret"

    static var authentication: RevenueCatAuthentication? {
        RevenueCatAuthentication(authorization: Array(header.utf8), hmacSecret: nil)
    }
}
