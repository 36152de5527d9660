/**
 * Minor-unit exponents of ISO 4217 currencies, so that `2400 usd` in cents and `"24.00"` in dollars are one amount.
 *
 * A provider may count differently (some treat ISK or UGX as having two decimals): the table is ISO's, and a tool that
 * needs another exponent says it. An unknown code without an exponent is refused: a misspelt currency would be another identity.
 */
const TWO_DECIMALS =
  "aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob bov brl bsd btn bwp byn bzd cad cdf che chf chw cny " +
  "cop cou crc cuc cup cve czk dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gtq gyd hkd hnl hrk htg huf idr ils inr " +
  "irr jmd kes kgs khr kpw kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn mxv myr mzn nad ngn nio " +
  "nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sdg sek sgd shp sle sll sos srd ssp stn svc syp szl thb " +
  "tjs tmt top try ttd twd tzs uah usd usn uyu uzs ved ves wst xad xcd xcg yer zar zmw zwg zwl"
const NO_DECIMALS = "bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf"
const THREE_DECIMALS = "bhd iqd jod kwd lyd omr tnd"
const FOUR_DECIMALS = "clf uyw"

const EXPONENTS: ReadonlyMap<string, number> = new Map(
  (
    [
      [NO_DECIMALS, 0],
      [TWO_DECIMALS, 2],
      [THREE_DECIMALS, 3],
      [FOUR_DECIMALS, 4],
    ] as const
  ).flatMap(([codes, exponent]) => codes.split(" ").map((code) => [code, exponent] as const)),
)

/** Decimals between the currency's unit and its smallest part; null where ISO 4217 has no such code. */
export function currencyExponent(code: string): number | null {
  return EXPONENTS.get(code.toLowerCase()) ?? null
}

export function currencyCodes(): readonly string[] {
  return [...EXPONENTS.keys()].sort()
}
