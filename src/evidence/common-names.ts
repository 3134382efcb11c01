/** Names of shared mailboxes, words of mail syntax, brands, and titles of people, in lower case. */
export const sharedNames: ReadonlySet<string> = wordsIn([
  // Shared mailboxes and mail.
  'accounting amazon bestellung bewerbung booking domains facebook lists payments paypal public',
  'reception redaktion reservations secretary twitter google microsoft apple bitcoin netflix dhl',
  'phd ii iii md esq inc ltd gmbh llc corp group',
  'abuse account accounts admin administrator alerts alternative billing bounce bounces boundary',
  'business buchhaltung careers charset client company compliance compras comptabilite contact',
  'contacto contato content customer customers delivered delivery dear digest direction email',
  'emails enquiries everyone example facturation feedback finance friend hello helpdesk hi home',
  'hostmaster hotline inbox info information invoice invoices jobs kontakt kunde kundenservice',
  'legal list mail mailbox mailer mailer-daemon mailing mails manager marketing me media member',
  'members message messages mime multipart network news newsletter newsletters no-reply nobody',
  'noreply notification notifications office online operations orders owner partner partners',
  'password phishing postmaster press privacy promo promotion question questions rechnung',
  'received',
  'recipient redacted registration reply report reports return path root sales security sender',
  'server service services shop sir madam signature spam spamtrap staff statement store subject',
  'subscribe subscriber support system team test testing undisclosed unsubscribe update updates',
  'user user-agent username users ventas vertrieb version web webmaster website welcome you your',
  // Titles, and particles of names.
  'mr mrs ms miss dr prof herr frau mme mlle monsieur madame senor senora sr sra sig van von der',
  'den de del della di da dos das du la le les los las el al ibn bin bint abu ben ter ten zu zur',
  'san st jr sen phd the and of for to in on at by an as is it no so do go',
])

/** Names of people that are usual words, too. */
const wordNames = wordsIn([
  'april may june august summer autumn winter dawn eve noel sunday monday friday mark will bill',
  'frank grant chase hunter mason miller baker cook taylor carter parker walker turner fisher',
  'king prince duke earl bishop dean major page pope marshall sheriff judge young old short long',
  'small little white black brown green gray blue red gold silver rich price best good love',
  'wise bright sharp strong swift moon star sun sky bank banks cash field fields hill wood woods',
  'stone rock brook brooks river rivers lake forest ford bridge church castle hall house park',
  'street gates day days week knight wolf fox lamb bird hawk swan rose lily daisy ivy iris',
  'violet',
  'olive holly heather jasmine grace faith hope joy charity mercy victory victor christian pat',
  'bob sue rob nick jack drew art ray gene guy max miles penny pearl ruby amber crystal diamond',
  'jewel angel sandy sunny happy free france paris london berlin washington lincoln jordan',
  'israel',
  'china india america austin dallas houston madison virginia georgia carolina florence sydney',
  'chance case cash chip cliff clay dale glen heath kit lance lane norm ozzie peg reed',
  'roman rusty',
  'sage shade skip sterling tab trip trey wade ward wonder world power energy prime express chef',
  'meister richter koch klein gross lang kurz neu alt gut weiss schwarz roth braun wolf vogel',
  'petit grand blanc noir brun roux bon beau vert roi leroy marchand rossi bianchi verdi grande',
  'one two three first last next new now yes ok all any more most other same such only own here',
  'click here order buy sale offer offers deal deals gift gifts win winner bonus prize vip pro',
])

/**
 * Words that are not concealed alone, because they identify nobody, and the sender could hide
 * evidence by choosing them as the recipient's name.
 */
export const commonNames: ReadonlySet<string> = sharedNames.union(wordNames)

function wordsIn(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')))
}
