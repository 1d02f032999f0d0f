public import Entitlements

/// Which messages of the App Store are accepted, and by whose signature.
public struct AppStoreConfiguration: Sendable {
    /// The apps that this ledger serves.
    public var bundleIDs: Set<String>
    /// The app's id in the App Store, which a notification from production must name; without it,
    /// none from production is accepted.
    public var appAppleID: Int64?
    /// The environments that are accepted: `production`, `sandbox` or both, never `local`.
    public var environments: Set<StoreEnvironment>
    /// Trust anchors, DER.
    public var roots: [[UInt8]]
    /// How far a message's date may lie ahead of our clock.
    public var futureToleranceMilliseconds: Int64
    /// How many verified chains are kept.
    public var chainCacheLimit: Int
    /// Whether and how revocation is asked about; nil: fully offline.
    public var revocation: AppStoreRevocationCheck?

    /// Five minutes: more than clocks that are set by a network differ.
    public static let defaultFutureToleranceMilliseconds: Int64 = 300_000
    /// The App Store signs with a few certificates at a time.
    public static let defaultChainCacheLimit = 32

    /// Makes a configuration; the roots are read by `AppStoreVerifier.init`.
    public init(
        bundleIDs: Set<String>,
        appAppleID: Int64? = nil,
        environments: Set<StoreEnvironment> = [.production, .sandbox],
        roots: [[UInt8]] = builtInRoots,
        futureToleranceMilliseconds: Int64 = defaultFutureToleranceMilliseconds,
        chainCacheLimit: Int = defaultChainCacheLimit,
        revocation: AppStoreRevocationCheck? = nil
    ) {
        self.bundleIDs = bundleIDs
        self.appAppleID = appAppleID
        self.environments = environments
        self.roots = roots
        self.futureToleranceMilliseconds = futureToleranceMilliseconds
        self.chainCacheLimit = chainCacheLimit
        self.revocation = revocation
    }

    /// The roots that are trusted unless others are configured: Apple Root CA - G3.
    public static let builtInRoots: [[UInt8]] = [AppleRootCertificate.g3]
}
