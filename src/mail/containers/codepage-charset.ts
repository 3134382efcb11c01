const charsets: Readonly<Record<number, string>> = {
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gb2312',
  949: 'ks_c_5601-1987',
  950: 'big5',
  20127: 'us-ascii',
  20866: 'koi8-r',
  21866: 'koi8-u',
  50220: 'iso-2022-jp',
  50221: 'iso-2022-jp',
  50222: 'iso-2022-jp',
  51932: 'euc-jp',
  51949: 'euc-kr',
  54936: 'gb18030',
  65001: 'utf-8',
}

/** The charset of MIME that a codepage of Windows stands for; undefined for one nobody mails. */
export function charsetOfCodepage(codepage: number): string | undefined {
  if (codepage >= 1250 && codepage <= 1258) return `windows-${codepage}`
  if (codepage > 28_590 && codepage <= 28_605) return `iso-8859-${codepage - 28_590}`
  return charsets[codepage]
}
