import type { Rule, TidyFile, Tree } from './tree.ts'

const LINES_MAX = 500
const COLUMNS_MAX = 100

const length: Rule = {
  name: `a file has at most ${LINES_MAX} lines`,
  check: (tree) =>
    tree
      .filter(({ path }) => /\.(ts|js|eta|css)$/.test(path) && !path.startsWith('clients/'))
      .filter(({ lines }) => lines.length > LINES_MAX + 1)
      .map(
        ({ path, lines }) =>
          `${path}:${LINES_MAX + 1} of ${lines.length - 1}: give its parts files of their own`,
      ),
  raises: [['src/a.ts:501', { 'src/a.ts': 'a\n'.repeat(LINES_MAX + 1) }]],
  passes: [{ 'src/a.ts': 'a\n'.repeat(LINES_MAX) }],
}

/** Files that a command generates. */
const dumped = ['migrations/schema.sql']

/** In tests, a line that consists of one text, such as a line of mail, may be longer. */
const loneText = /^\s*(\w+: |\w+\(|\[)*(['"`/]).*\2\w*[\])]*[,;]?$/

const width: Rule = {
  name: `a line has at most ${COLUMNS_MAX} columns`,
  check: (tree) =>
    tree
      .filter(({ path }) => /\.(ts|js|sql)$/.test(path) && !dumped.includes(path))
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, index) => {
          const columns = Array.from(line).length
          const isText = path.startsWith('test/') && loneText.test(line)
          return columns > COLUMNS_MAX && !isText
            ? [`${path}:${index + 1} has ${columns} columns: break it`]
            : []
        }),
      ),
  raises: [
    ['src/a.ts:2', { 'src/a.ts': `\n${'x'.repeat(COLUMNS_MAX + 1)}` }],
    ['src/a.ts:1', { 'src/a.ts': `'${'x'.repeat(COLUMNS_MAX)}',` }],
    ['test/a.ts:1', { 'test/a.ts': `a = b ? '${'x'.repeat(COLUMNS_MAX)}' : c` }],
  ],
  passes: [
    { 'src/a.ts': '😀'.repeat(COLUMNS_MAX), 'migrations/schema.sql': 'x'.repeat(200) },
    { 'test/a.ts': `  ['Received: ${'x'.repeat(COLUMNS_MAX)}'],` },
  ],
}

const rubbishBins = /^(utils?|helpers?|common|lib|misc|shared)$/

const rooms: Rule = {
  name: 'no folder or file is named for nothing: utils, helpers, common, lib',
  check: (tree) =>
    tree
      .filter(({ path }) =>
        path.split('/').some((part) => rubbishBins.test(part.split('.')[0] ?? '')),
      )
      .map(({ path }) => `${path}:1 is named for nothing: name the one thing it holds`),
  raises: [
    ['src/utils/a.ts:1', { 'src/utils/a.ts': '' }],
    ['src/mail/helpers.ts:1', { 'src/mail/helpers.ts': '' }],
    ['test/lib/a.ts:1', { 'test/lib/a.ts': '' }],
  ],
  passes: [{ 'src/mail/library.ts': '', 'src/commons-wiki/a.ts': '' }],
}

const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/
const shouting = /^(README|LICENSE|SECURITY|CHANGELOG)(\.md)?$/

const spelling: Rule = {
  name: 'files and folders are kebab-case',
  check: (tree) =>
    tree
      .filter(({ path }) => /^(src|scripts|test|clients)\//.test(path))
      .filter(({ path }) =>
        path.split('/').some((part) => !kebab.test(part) && !shouting.test(part)),
      )
      .map(({ path }) => `${path}:1 is not kebab-case`),
  raises: [
    ['src/acceptReport.ts:1', { 'src/acceptReport.ts': '' }],
    ['src/accept_report.ts:1', { 'src/accept_report.ts': '' }],
    ['test/Unit/a.ts:1', { 'test/Unit/a.ts': '' }],
  ],
  passes: [
    { 'src/web/views/report-form.eta': '', 'test/a.expected.json': '', 'src/README.md': '' },
  ],
}

type Manifest = {
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

function manifestOf(tree: Tree): { file: TidyFile; read: Manifest } | undefined {
  const file = tree.find(({ path }) => path === 'package.json')
  return file && { file, read: JSON.parse(file.text) as Manifest }
}

function lineOf({ path, lines }: TidyFile, name: string): string {
  return `${path}:${lines.findIndex((line) => line.includes(`"${name}"`)) + 1}`
}

const versions: Rule = {
  name: 'every dependency has an exact version',
  check: (tree) => {
    const manifest = manifestOf(tree)
    if (!manifest) return []
    const { dependencies, devDependencies, optionalDependencies } = manifest.read
    const all = { ...dependencies, ...devDependencies, ...optionalDependencies }
    return Object.entries(all)
      .filter(([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${lineOf(manifest.file, name)} ${name} ${version}: pin it`)
  },
  raises: [
    ['package.json:1', { 'package.json': '{"dependencies":{"a":"^1.2.3"}}' }],
    ['package.json:2', { 'package.json': '{"devDependencies":{\n"a":"latest"}}' }],
    ['package.json:1', { 'package.json': '{"dependencies":{"a":"npm:b@^1.2.3"}}' }],
  ],
  passes: [
    { 'package.json': '{"dependencies":{"a":"1.2.3","b":"18.4.0-beta.17","c":"npm:@d/e@1.2.3"}}' },
  ],
}

const british = new RegExp(
  [
    String.raw`\b(colou?r(?<=our)|behaviour|honour|favour|neighbour|licence|catalogue)\w*`,
    String.raw`\b(analys(ed|er|ing)|centre[ds]?|grey|artefacts?|judgement|cancell(ed|ing))\b`,
    String.raw`\b(normal|organ|recogn|real|serial)is(ed?|es|ing|ation)\b`,
    String.raw`\b(author|summar|optim|custom)is(ed?|es|ing|ation)\b`,
  ].join('|'),
  'i',
)

const american: Rule = {
  name: 'spelling is American',
  check: (tree) =>
    tree
      .filter(({ path }) => /\.(ts|md|sql|eta)$|\.env\.example$/.test(path))
      .filter(({ path }) => !/^test\/(tidy|fixtures)/.test(path))
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, index) => {
          const word = british.exec(line)?.[0]
          return word === undefined
            ? []
            : [`${path}:${index + 1} "${word}" is spelled as in Britain`]
        }),
      ),
  raises: [
    ['src/a.ts:2', { 'src/a.ts': '\n// its behaviour' }],
    ['README.md:1', { 'README.md': 'Licence: normalised' }],
  ],
  passes: [{ 'src/a.ts': '// analyses, color, a promise that is normal; colleague' }],
}

/** Rules about the layout of the project. */
export const projectRules: readonly Rule[] = [length, width, rooms, spelling, versions, american]
