/** "de" before a name: Orange begins with a vowel, Yahoo and H&M do not. */
export function deName(name: string): string {
  return /^[aeiouàâäéèêëîïôöùûüœæ]/i.test(name) ? `d’${name}` : `de ${name}`
}
