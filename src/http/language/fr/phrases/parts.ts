/** Parts of sentences, in French: as the sentences around them need them. */
export const partsFr: Readonly<Record<string, string>> = {
  'a machine without a name': 'une machine sans nom',
  'a machine': 'une machine',
  'the provider': 'votre fournisseur',
  'the receiving provider': 'votre fournisseur',
  'no status given': 'sans code d’état',
  'the abuse desk of the network': 'au service abuse du réseau',
  'the abuse desk of {name}': 'au service abuse de {name}',
  'the address that its author takes complaints at':
    'à l’adresse où son auteur reçoit les plaintes',
  'the marketer': 'à l’annonceur',
  'the desk of the domain that signed it': 'au service du domaine qui l’a signé',
  'The abuse desk': 'Le service abuse',
  'The marketer': 'L’annonceur',
  'The desk of its domain': 'Le service de son domaine',
  'Who takes complaints for its author': 'Celui qui reçoit les plaintes pour son auteur',
  spam: 'spam',
  phishing: 'hameçonnage',
  malware: 'logiciels malveillants',
}
