// Who imports whom, read from the import statements: the direction of ARCHITECTURE.md, and the doors of the packages.

import type { Finding, SourceFile } from "./finding.ts"
import type { ImportedModule } from "./imports.ts"
import { importsOf, packageOf, resolveRelative } from "./imports.ts"
import { MAY_IMPORT, runtimeDependencies, SCOPE, workspaceDependencies } from "./packages.ts"
import type { WorkspacePackage } from "./packages.ts"

/** What no source of a package may import, whatever its package.json says. */
const NO_BUILTINS = new Set(["protocol", "client", "console"])

export interface Surroundings {
  /** The root's devDependencies; tests may import them. */
  readonly devPackages: readonly string[]
  /** Everything that the packages of the workspace let others import, as it is written. */
  readonly doors: ReadonlySet<string>
}

/** Judges the imports of one file of a package. */
export function judgeImports(file: SourceFile, pack: WorkspacePackage, around: Surroundings): Finding[] {
  const inTest = file.path.startsWith(`packages/${pack.folder}/test/`)
  // A file started by URL is no import: it lies beside the code that starts it, and its own imports are judged.
  const imports = importsOf(file).filter((module) => module.kind !== "file")
  return imports.flatMap((module) => {
    const message =
      packageOf(module.specifier) === undefined
        ? judgePath(file, pack, module, inTest)
        : inTest
          ? judgeTestImport(pack, module.specifier, around)
          : judgeSourceImport(pack, module.specifier, around)
    return message === undefined ? [] : [{ path: file.path, line: module.line, message }]
  })
}

function judgePath(
  file: SourceFile,
  pack: WorkspacePackage,
  module: ImportedModule,
  inTest: boolean,
): string | undefined {
  const target = resolveRelative(file.path, module.specifier)
  if (inTest) {
    if (target.startsWith(`packages/${pack.folder}/test/`)) return undefined
    return `imports ${module.specifier}; tests import the built package: ${SCOPE}${pack.folder}, or its /internal`
  }
  if (!target.startsWith(`packages/${pack.folder}/src/`)) {
    return `imports ${module.specifier}, which is outside its package; go through the package's own name`
  }
  if (target === `packages/${pack.folder}/src/internal.ts`) {
    return `imports ${module.specifier}, the door for tests; import the file that defines the name`
  }
  return undefined
}

function judgeSourceImport(pack: WorkspacePackage, specifier: string, around: Surroundings): string | undefined {
  if (specifier.startsWith("node:")) {
    return NO_BUILTINS.has(pack.folder) ? `${pack.folder} runs in browsers and must not import ${specifier}` : undefined
  }
  const name = packageOf(specifier) ?? ""
  if (!name.startsWith(SCOPE)) {
    return runtimeDependencies(pack).includes(name) ? undefined : `${name} is not a dependency of ${pack.folder}`
  }
  const folder = name.slice(SCOPE.length)
  if (!MAY_IMPORT[pack.folder]?.includes(folder)) return `${pack.folder} must not import ${folder}`
  if (!workspaceDependencies(pack).includes(folder)) return `${name} is not in the package.json of ${pack.folder}`
  if (specifier === `${name}/internal`) return `${specifier} is for tests; export what is needed from ${name}`
  return judgeDoor(specifier, name, around)
}

function judgeTestImport(pack: WorkspacePackage, specifier: string, around: Surroundings): string | undefined {
  if (specifier.startsWith("node:")) return undefined
  const name = packageOf(specifier) ?? ""
  if (!name.startsWith(SCOPE)) {
    const known = around.devPackages.includes(name) || runtimeDependencies(pack).includes(name)
    return known ? undefined : `${name} is neither a devDependency of the workspace nor a dependency of ${pack.folder}`
  }
  const folder = name.slice(SCOPE.length)
  const allowed = folder === pack.folder || folder === "testkit" || MAY_IMPORT[pack.folder]?.includes(folder) === true
  if (!allowed) return `tests of ${pack.folder} must not import ${folder}; a test of several packages stands in test/`
  return judgeDoor(specifier, name, around)
}

function judgeDoor(specifier: string, name: string, { doors }: Surroundings): string | undefined {
  return doors.has(specifier) ? undefined : `${specifier} reaches into ${name}; import what its package.json exports`
}
