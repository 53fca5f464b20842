import { unwrap } from '../client/fault.ts';
import { fingerprint } from '../client/key-set.ts';
import { parseReceipt, verifyReceipt, verifyReceiptBody } from '../client/receipt.ts';
import { type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { againstPin } from './against-pin.ts';
import { headFields, headLines, type Output } from './output.ts';
import { readWhole } from './read-input.ts';
import { printReport } from './report.ts';
import { notesOf, shownTrust, type Trust } from './verify-offline.ts';

/**
 * Verifies a receipt of an ingest body. `body` is the path of the body as it was sent.
 *
 * @throws AuditFault
 */
export async function verifyReceiptFile(
  text: string,
  body: string | undefined,
  trust: Trust,
  out: Output,
): Promise<ExitCode> {
  const { receipt, key, logged } = unwrap(verifyReceipt(unwrap(parseReceipt(text)), trust.keys));
  const wrong = body === undefined ? undefined : verifyReceiptBody(receipt, await readWhole(body));
  if (wrong !== undefined) throw wrong;
  const against = logged === undefined ? undefined : await againstPin(logged, trust.pin);
  if (against?.exit !== undefined) return printReport(out, against);
  const { accepted, rejected, ignored, duplicates, sensor } = receipt;
  const lines = [
    `receipt      ${receipt.id}`,
    `body         ${receipt.bytes} bytes, SHA-256 ${receipt.sha256}`,
    `records      ${accepted} accepted, ${rejected} rejected, ${ignored} ignored, ${duplicates} duplicates`,
    `sensor       ${sensor.name} (${sensor.id}), at ${receipt.received_at}`,
    ...(key === undefined ? [] : [`signed by    ${key.kid}, fingerprint ${fingerprint(key)}`]),
    ...(logged === undefined ? [] : [`entry        ${logged.entry.id}`, ...headLines(logged.head, logged.headKey)]),
    key === undefined ? 'Verified: the log covers the receipt.' : 'Verified: the receipt is signed.',
    ...(key !== undefined && logged !== undefined ? ['Verified: the log covers it.'] : []),
    ...(logged === undefined ? ['The file has no proof that the log covers it.'] : []),
    ...(body === undefined ? [] : ['Verified: the receipt is for this body.']),
    ...notesOf(trust),
    ...(against?.lines ?? []),
  ];
  out.result(lines, {
    status: 'ok',
    receipt_id: receipt.id,
    sha256: receipt.sha256,
    signed: key !== undefined,
    receipt_key_id: key?.kid,
    logged: logged !== undefined,
    body_verified: body !== undefined,
    entry_id: logged?.entry.id,
    leaf_index: logged?.leafIndex,
    ...(logged === undefined ? {} : headFields(logged.head, logged.headKey)),
    keys: shownTrust(trust),
    ...against?.fields,
  });
  return exitCodes.ok;
}
