// swift-tools-version: 6.2
import PackageDescription

// The package that is measured does not know these dependencies.
let package = Package(
    name: "peers",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
    targets: [
        .target(name: "CRecords", path: "Sources/CRecords"),
        .executableTarget(
            name: "sqlite-peer",
            dependencies: ["CRecords", .product(name: "GRDB", package: "GRDB.swift")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
