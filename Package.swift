// swift-tools-version: 6.2
import PackageDescription

/// With `ENTITLE_STRICT` set, as `tools/test` does, warnings of these targets are errors; those of
/// packages that others wrote are not ours to fix.
let warnings: [SwiftSetting] =
    Context.environment["ENTITLE_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// Every target is strict about concurrency, memory and what a name reaches.
let house: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
    ] + warnings

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")

let package = Package(
    name: "entitlement-ledger",
    platforms: [.macOS(.v15)],
    products: [
        .library(
            name: "EntitlementLedger",
            targets: ["EntitlementLedger", "LMDBStorage", "Stores"]
        ),
        .executable(name: "entitle", targets: ["entitle"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        // Row 0: C
        .systemLibrary(
            name: "CLMDB",
            pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"])]
        ),
        .systemLibrary(
            name: "CZstd",
            pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"])]
        ),

        // Row 1: the domain, the log's bytes, mapped memory
        .target(name: "Entitlements", swiftSettings: house),
        .target(name: "EventLog", dependencies: [crypto], swiftSettings: house),
        .target(name: "LMDB", dependencies: ["CLMDB"], swiftSettings: house),

        // Row 2: the application, its storage, the stores
        .target(
            name: "EntitlementLedger",
            dependencies: ["Entitlements", "EventLog", "LMDB", "CZstd", crypto],
            swiftSettings: house
        ),
        .target(
            name: "LMDBStorage",
            dependencies: ["EventLog", "LMDB", crypto],
            swiftSettings: house
        ),
        .target(name: "Stores", dependencies: ["Entitlements"], swiftSettings: house),

        // Row 4: the command
        .executableTarget(
            name: "entitle",
            dependencies: [
                "Entitlements", "EventLog", "LMDB", "EntitlementLedger", "LMDBStorage", "Stores",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: house
        ),

        // The slow, obvious model and its random histories, for two test targets
        .target(
            name: "ModelSupport",
            dependencies: ["Entitlements", crypto],
            path: "Tests/ModelSupport",
            swiftSettings: house
        ),
        .testTarget(
            name: "EntitlementsTests",
            dependencies: ["Entitlements", "ModelSupport", crypto],
            swiftSettings: house
        ),
        .testTarget(
            name: "EventLogTests",
            dependencies: ["EventLog", crypto],
            swiftSettings: house
        ),
        .testTarget(name: "HouseTests", swiftSettings: house),
        .testTarget(name: "LMDBTests", dependencies: ["LMDB"], swiftSettings: house),
        .testTarget(
            name: "StoresTests",
            dependencies: ["Stores", "Entitlements", "ModelSupport"],
            swiftSettings: house
        ),
        .testTarget(
            name: "LedgerTests",
            dependencies: [
                "EntitlementLedger", "LMDBStorage", "EventLog", "Entitlements", "Stores", "LMDB",
                "ModelSupport", crypto,
            ],
            swiftSettings: house
        ),
    ],
    swiftLanguageModes: [.v6]
)
