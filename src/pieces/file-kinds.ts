const extensions = {
  executables: 'exe scr com pif dll msi msix appx jar apk cpl sys xll ocx',
  scripts: 'js jse vbs vbe wsf wsh hta ps1 psm1 bat cmd sh reg chm sct',
  web_pages: 'html htm shtml xhtml mht mhtml svg',
  archives: 'zip rar 7z gz tgz tar bz2 tbz2 xz txz ace arj cab lzh z uue',
  disk_images: 'iso img vhd vhdx dmg udf',
  shortcuts: 'lnk url website desktop library-ms search-ms',
  office: 'doc docx docm dot dotm xls xlsx xlsm xlsb xlam ppt pptx pptm rtf odt ods one',
  pdfs: 'pdf',
  messages: 'eml msg',
  calendars: 'ics',
} as const

export type FileKind = keyof typeof extensions

const kindOf = new Map(
  Object.entries(extensions).flatMap(([kind, all]) =>
    all.split(' ').map((one) => [one, kind as FileKind] as const),
  ),
)

/** The extension of a file name, in lower case; empty if it has none. */
export function extensionOf(name: string): string {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return name.includes('.') && /^[a-z\d-]{1,10}$/.test(extension) ? extension : ''
}

/** The kind of files with an extension; undefined for other files. */
export function kindOfExtension(extension: string): FileKind | undefined {
  return kindOf.get(extension)
}

const macroExtensions = new Set(['docm', 'dotm', 'xlsm', 'xlsb', 'xlam', 'pptm', 'xll'])
const macroParts = /(?:^|\/)(?:vba(?:Project|Data)\.(?:bin|xml)|macrosheets\/[^/]+|_VBA_PROJECT)$/i

export function namesMacros(name: string): boolean {
  return macroExtensions.has(extensionOf(name)) || macroParts.test(name)
}

/** Kinds of files that run, or let something run, when they are opened. */
const running = new Set<FileKind | undefined>([
  'executables',
  'scripts',
  'shortcuts',
  'disk_images',
])

/** How much the name of a file says about what it does: 2: it runs, 1: it opens a page. */
export function weightOf(name: string): number {
  const kind = kindOf.get(extensionOf(name.trimEnd()))
  if (running.has(kind) || namesMacros(name)) return 2
  return kind === 'web_pages' || kind === 'archives' ? 1 : 0
}
