import { Facts, Section } from '../../ui/detail.tsx';
import { hexDump, withoutTricks } from '../../ui/plain-text.ts';
import { title } from '../../ui/words.ts';
import type { Alert } from './question.ts';

/** The sensor's signature and the matched traffic. An attacker controls the traffic, so it is shown only as text. */
export function Traffic({ alert: { signature = {}, payload = {} } }: { alert: Alert }) {
  const { cves, references, metadata = [] } = signature;
  const facts = [{ key: 'CVE', values: cves }, { key: 'references', values: references }, ...metadata]
    .filter(({ values }) => values !== undefined)
    .map(({ key, values }) => [title(key.replaceAll('_', ' ')), <bdi key={key}>{values?.join(', ')}</bdi>] as const);
  const bytes = payload.data && bytesOf(payload.data);
  const texts = [
    ['Text', bytes ? new TextDecoder().decode(bytes) : payload.printable],
    ['Hexadecimal', bytes && hexDump(bytes)],
    ['Packet', payload.packet && hexDump(bytesOf(payload.packet))],
  ].filter(([, text]) => text !== undefined);
  return (
    <>
      {facts.length > 0 && (
        <Section title="Signature">
          <Facts facts={facts} />
        </Section>
      )}
      {texts.length > 0 && (
        <Section title="Payload">
          {texts.map(([name, text = '']) => (
            <details key={name} class="raw" open={name === 'Text'}>
              <summary>{name}</summary>
              <pre class="mono" tabIndex={0}>
                <bdi>{withoutTricks(text)}</bdi>
              </pre>
            </details>
          ))}
        </Section>
      )}
    </>
  );
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
