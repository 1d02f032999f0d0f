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

/// With `ENTITLE_FUZZ` set, as `tools/fuzz` does, there is one target more, and what it tries counts
/// what it reaches.
///
/// SwiftPM calls the compiler's flag for that unsafe: no package may have it that others depend on.
let isFuzzing = Context.environment["ENTITLE_FUZZ"] != nil
let counted: [SwiftSetting] =
    isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-enable-testing"])] : []

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")

let package = Package(
    name: "entitlement-ledger",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(
            name: "EntitlementLedger",
            targets: ["EntitlementLedger", "LMDBStorage", "Stores"]
        ),
        .library(
            name: "LedgerOperations",
            targets: [
                "LedgerOperations", "EntitlementLedger", "Entitlements", "Encodings",
                "LedgerAPI", "Presentation",
            ]
        ),
        .library(
            name: "EntitlementClient",
            targets: ["EntitlementClient", "LedgerAPI", "Entitlements", "Encodings"]
        ),
        .executable(name: "entitle", targets: ["entitle"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
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
        .systemLibrary(
            name: "CISAL",
            pkgConfig: "libisal",
            providers: [.apt(["libisal-dev"])]
        ),
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]
        ),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CTimex"),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(name: "CLinux"),
        // Without `pkgConfig`, which would link it: it is loaded where a cluster is asked for.
        .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),

        // Row 0: texts of values and bytes
        .target(name: "Encodings", swiftSettings: house + counted),

        // Row 1: the domain, the log's bytes, mapped memory, databases of exports
        .target(
            name: "Entitlements",
            dependencies: ["Encodings"],
            swiftSettings: house + counted
        ),
        .target(
            name: "EventLog",
            dependencies: ["CISAL", "COpenSSL", "Encodings", crypto],
            swiftSettings: house + counted
        ),
        .target(name: "DurableFiles", swiftSettings: house + counted),
        .target(name: "LMDB", dependencies: ["CLMDB"], swiftSettings: house),
        .target(name: "SQLite", dependencies: ["CSQLite"], swiftSettings: house),

        // Row 2: which bytes a signed root proves
        .target(
            name: "Salvage",
            dependencies: ["EventLog"],
            swiftSettings: house + counted
        ),

        // Rows 2 and 3: the application, its index and its storage, the stores
        .target(
            name: "PostingIndex",
            dependencies: ["DurableFiles", "Encodings", "EventLog"],
            swiftSettings: house + counted
        ),
        .target(
            name: "EntitlementLedger",
            dependencies: [
                "Encodings", "Entitlements", "EventLog", "LedgerAPI", "PostingIndex", "CZstd",
                crypto,
            ],
            swiftSettings: house + counted
        ),
        .target(
            name: "LMDBStorage",
            dependencies: ["DurableFiles", "Encodings", "EventLog", "LMDB", "Salvage", crypto],
            swiftSettings: house + counted
        ),
        // Row 2: the journals of several machines, which no embedder links
        .target(
            name: "PostgresStorage",
            dependencies: ["CPostgres", "Encodings", "EventLog"],
            swiftSettings: house
        ),
        .target(
            name: "LedgerAPI",
            dependencies: ["Encodings", "Entitlements"],
            swiftSettings: house + counted
        ),
        .target(
            name: "Stores",
            dependencies: ["Encodings", "Entitlements", crypto, cryptoExtras, x509, asn1],
            swiftSettings: house + counted
        ),

        // Row 3: an app's library, which stands on no server and no store
        .target(
            name: "EntitlementClient",
            dependencies: ["Encodings", "Entitlements", "LedgerAPI", crypto],
            swiftSettings: house
        ),

        // Row 3: answers as people see them
        .target(
            name: "Presentation",
            dependencies: ["Encodings", "Entitlements", "LedgerAPI"],
            resources: [
                .embedInCode("Assets/pages.css"), .embedInCode("Assets/own.css"),
                .embedInCode("Assets/pages.js"),
            ],
            swiftSettings: house
        ),

        // Row 4: what is done to a ledger in files
        .target(
            name: "LedgerOperations",
            dependencies: [
                "CLinux", "CTimex", "DurableFiles", "Encodings", "Entitlements", "EventLog",
                "EntitlementLedger", "LMDBStorage", "LedgerAPI",
                "Presentation", "SQLite", "Salvage", "Stores",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: house
        ),

        // Row 3: the server, the stores' stand-in
        .target(
            name: "LedgerServer",
            dependencies: [
                "CMalloc", "Encodings",
                "Entitlements", "EntitlementLedger", "EventLog", "LedgerAPI", "LedgerOperations",
                "Presentation", "Stores", crypto, jwtKit, logging, hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: house
        ),
        .target(
            name: "StoreSimulator",
            dependencies: [
                "Encodings", "Entitlements", "Stores", crypto, cryptoExtras, x509, asn1,
            ],
            swiftSettings: house
        ),

        // Row 5: what the stores do, and what customers have then
        .target(
            name: "Scenarios",
            dependencies: [
                "Encodings", "Entitlements", "EntitlementLedger", "EventLog", "LedgerAPI",
                "LedgerOperations", "StoreSimulator", "Stores",
            ],
            swiftSettings: house
        ),

        // Row 4: what is measured, and the raw storage that it is measured beside
        .target(
            name: "LedgerBenchmarks",
            dependencies: [
                "DurableFiles", "Encodings", "Entitlements", "EventLog",
                "LMDB", "EntitlementLedger",
                "LMDBStorage", "LedgerOperations", "LedgerAPI", "Presentation", "Salvage",
                "StoreSimulator",
                "Stores", crypto,
            ],
            swiftSettings: house
        ),

        // Row 5: the command
        .executableTarget(
            name: "entitle",
            dependencies: [
                "CLinux", "DurableFiles", "Encodings", "Entitlements", "EventLog",
                "EntitlementLedger",
                "LMDBStorage", "LedgerOperations", "LedgerBenchmarks",
                "LedgerAPI", "LedgerServer", "PostgresStorage", "Presentation", "Salvage",
                "Scenarios", "StoreSimulator", "Stores",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: house
        ),

        // Row 6: the app for a terminal that the pages show, with what is public alone
        .executableTarget(
            name: "entitle-example",
            dependencies: ["Encodings", "EntitlementClient", "Entitlements", "LedgerAPI"],
            packageAccess: false,
            swiftSettings: house
        ),

        // What the app's library costs. Apart, because the command would be linked with its networking
        .executableTarget(
            name: "client-bench",
            dependencies: [
                "Encodings", "EntitlementClient", "Entitlements", "LedgerBenchmarks",
                "LedgerOperations", crypto,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: house
        ),

        // The slow, obvious model and its random histories, for two test targets
        .target(
            name: "ModelSupport",
            dependencies: ["Encodings", "Entitlements", "LedgerAPI", crypto],
            path: "Tests/ModelSupport",
            swiftSettings: house
        ),
        .testTarget(name: "EncodingsTests", dependencies: ["Encodings"], swiftSettings: house),
        .testTarget(
            name: "EntitlementsTests",
            dependencies: ["Encodings", "Entitlements", "LedgerAPI", "ModelSupport", crypto],
            swiftSettings: house
        ),
        .testTarget(
            name: "EventLogTests",
            dependencies: ["Encodings", "EventLog", crypto],
            swiftSettings: house
        ),
        .testTarget(name: "HouseTests", exclude: ["PublicSurface"], swiftSettings: house),
        // The program that README and the pages show, with what is public alone
        .executableTarget(
            name: "embedding",
            dependencies: [
                "Encodings", "EntitlementLedger", "Entitlements", "LedgerAPI", "LedgerOperations",
            ],
            path: "Tests/Embedding",
            packageAccess: false,
            swiftSettings: house
        ),
        .testTarget(
            name: "LedgerOperationsTests",
            dependencies: [
                "DurableFiles", "Encodings", "LedgerOperations", "EntitlementLedger",
                "Entitlements",
                "LMDBStorage", "LedgerAPI", "embedding",
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "PresentationTests",
            dependencies: ["Encodings", "Entitlements", "LedgerAPI", "Presentation"],
            swiftSettings: house
        ),
        .testTarget(name: "LMDBTests", dependencies: ["LMDB"], swiftSettings: house),
        // What tools/cluster starts, stops and kills
        .executableTarget(
            name: "cluster-node",
            dependencies: ["EventLog", "PostgresStorage"],
            path: "Tests/ClusterNode",
            swiftSettings: house
        ),
        .testTarget(
            name: "ClusterTests",
            dependencies: [
                "DurableFiles", "Encodings", "EntitlementLedger", "Entitlements", "EventLog",
                "LMDBStorage", "LedgerAPI", "LedgerOperations", "PostgresStorage",
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "SalvageTests",
            dependencies: ["EventLog", "Salvage", crypto],
            swiftSettings: house
        ),
        .testTarget(
            name: "StoresTests",
            dependencies: [
                "Encodings", "Stores", "StoreSimulator", "Entitlements", "ModelSupport", crypto,
                x509,
                asn1,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "LedgerTests",
            dependencies: [
                "Encodings", "EntitlementLedger", "LMDBStorage", "LedgerOperations", "EventLog",
                "Entitlements", "LedgerAPI", "Presentation", "Stores", "LMDB", "ModelSupport",
                "Scenarios", "StoreSimulator",
                "DurableFiles", "PostgresStorage", "PostingIndex", "Salvage", crypto,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "ClientTests",
            dependencies: [
                "Encodings", "EntitlementClient", "Entitlements", "LedgerAPI", "ModelSupport",
                "Scenarios", "StoreSimulator", "Stores", "entitle-example", crypto,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Encodings", "EntitlementClient", "LedgerServer", "LedgerAPI", "LedgerOperations",
                "EntitlementLedger",
                "EventLog", "Entitlements", "Presentation",
                "Scenarios", "Stores", "StoreSimulator", "ModelSupport", crypto, jwtKit, logging,
                hummingbird,
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(
                    name: "RawStructuredFieldValues",
                    package: "swift-http-structured-headers"
                ),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: house
        ),
    ],
    swiftLanguageModes: [.v6]
)

if isFuzzing {
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "Encodings", "Entitlements", "EventLog", "EntitlementLedger", "LMDBStorage",
                "LedgerAPI", "LedgerOperations", "LedgerServer", "ModelSupport", "Salvage",
                "Stores", "StoreSimulator", crypto,
            ],
            path: "Tests/Fuzz",
            swiftSettings: house + counted,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
        )
    )
}

// With `ENTITLE_DOCS` set, as `tools/docs` does, there is the plugin that makes a site of the
// documentation. Nobody who builds the package, or depends on it, resolves or builds it.
if Context.environment["ENTITLE_DOCS"] != nil {
    package.dependencies.append(
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")
    )
}

// With `ENTITLE_CORE` set, as `tools/sanitize` does, there is no server and no command: what is
// instrumented are domain and storage, and what they stand on.
if Context.environment["ENTITLE_CORE"] != nil {
    let outer = [
        "LedgerServer", "LedgerBenchmarks", "entitle", "client-bench", "StoresTests", "ServerTests",
        "HouseTests",
    ]
    package.targets.removeAll { outer.contains($0.name) }
    package.products.removeAll { outer.contains($0.name) }
}
