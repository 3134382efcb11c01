import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { readOne, type ReadFile } from '../../src/cli/train/read-reports.ts'
import { groupCampaigns, type RowKind, type TrainingRow } from '../../src/verdict/model/training.ts'

/** A labeled message, with the name of its file. */
export type Sample = TrainingRow & { file: string }

/** The folder names in a corpus without a manifest. */
export const kindOfFolder: Readonly<Record<string, RowKind>> = {
  spam: 'spam',
  phishing: 'phishing',
  phish: 'phishing',
  malware: 'malware',
  ham: 'ham',
  newsletter: 'newsletter',
  newsletters: 'newsletter',
}

/**
 * The labeled messages of a folder: those with a kind in its MANIFEST.json, or otherwise those in
 * the folders spam, phishing, malware, ham or newsletters.
 */
export async function readCorpus(folder: string): Promise<Sample[]> {
  const files: ReadFile[] = []
  for (const [file, kind] of labeledFiles(folder)) {
    const read = await readOne(file, kind)
    if (read) files.push(read)
  }
  const campaigns = groupCampaigns(files.map(({ fingerprints }) => fingerprints))
  return files.map(({ file, at, kind, facts, text }, index) => {
    const campaign = campaigns[index] ?? file
    const load = () => readFile(file)
    return { file, at, kind, facts, text, symbols: [], campaign, load }
  })
}

/** The labeled files of a folder, with their kinds; see `readCorpus`. */
export function labeledFiles(folder: string): [string, RowKind][] {
  const manifest = path.join(folder, 'MANIFEST.json')
  if (existsSync(manifest)) {
    const { files } = JSON.parse(readFileSync(manifest, 'utf8')) as {
      files: Record<string, { kind: string }>
    }
    return Object.entries(files)
      .flatMap(([name, { kind }]): [string, RowKind][] => {
        const its = kindOfFolder[kind]
        return its === undefined ? [] : [[path.join(folder, name), its]]
      })
      .sort()
  }
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name in kindOfFolder)
    .flatMap(({ name }) =>
      readdirSync(path.join(folder, name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry): [string, RowKind] => {
          return [path.join(entry.parentPath, entry.name), kindOfFolder[name] ?? 'ham']
        }),
    )
    .sort()
}
