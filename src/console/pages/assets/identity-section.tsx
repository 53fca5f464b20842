import { useAnswer } from '../../state/answers.ts';
import { Facts, Section, SmallTable } from '../../ui/detail.tsx';
import { number, title } from '../../ui/format.ts';
import { Address, Time, Value } from '../../ui/values.tsx';
import { addressSpans } from './address-spans.ts';
import type { AssetRow } from './question.ts';
import './identity-section.css';

const maxHistory = 500;
const sources = { passive: 'network events', scan: 'scan', manual: 'created manually' } as const;

/** The identity of the asset: its properties and its current and past addresses. */
export function Identity({ asset }: { asset: AssetRow }) {
  const { attributes } = asset;
  const value = (field: string, text: string | undefined) =>
    text === undefined ? undefined : <Value value={text} list="listAssets" field={field} mono={false} />;
  const empty = <span class="quiet">none</span>;
  return (
    <>
      <Facts
        facts={[
          ['Kind', attributes.kind === 'iot' ? 'IoT' : title(attributes.kind)],
          ['Owner', value('owner', attributes.owner) ?? <span class="quiet">none</span>],
          ['Operating system', value('os', attributes.os)],
          ['Vendor', value('vendor', attributes.vendor)],
          [
            'Hostnames',
            attributes.hostnames.length === 0 ? undefined : (
              <span class="asset-several">
                {attributes.hostnames.map((name) => (
                  <Value key={name} value={name} list="listAssets" field="hostname" pivot="domain" />
                ))}
              </span>
            ),
          ],
          [
            'Tags',
            attributes.tags.length === 0 ? undefined : (
              <span class="asset-several">
                {attributes.tags.map((tag) => (
                  <span key={tag} class="asset-tag">
                    <Value value={tag} list="listAssets" field="tag" mono={false} />
                  </span>
                ))}
              </span>
            ),
          ],
          ['Source', sources[attributes.source]],
          ['First seen', attributes.first_seen && <Time at={attributes.first_seen} />],
          ['Last seen', attributes.last_seen && <Time at={attributes.last_seen} />],
          ['Version', number(attributes.version)],
        ]}
      />
      {attributes.notes !== undefined && (
        <p class="asset-notes">
          <bdi>{attributes.notes}</bdi>
        </p>
      )}
      <Section title="Addresses">
        {attributes.ip_addresses.length + attributes.mac_addresses.length === 0 ? empty : null}
        <Addresses asset={asset} />
      </Section>
    </>
  );
}

function Addresses({ asset: { id, attributes } }: { asset: AssetRow }) {
  const current = [...attributes.ip_addresses, ...attributes.mac_addresses];
  const answer = useAnswer(
    'listAssetHistory',
    {
      params: { asset_id: id },
      query: {
        action: ['address_bound', 'address_left', 'mac_bound', 'mac_released'],
        per_page: maxHistory,
      },
    },
    { keepPrevious: false },
  );
  const spans = addressSpans(answer.data?.data.map((entry) => entry.attributes) ?? [], current);
  if (spans.length === 0) return null;
  return (
    <>
      <SmallTable heads={[{ title: 'Address' }, { title: 'Since' }, { title: 'Until' }]}>
        {spans.map(({ address, from, to }) => (
          <tr key={`${address} ${from} ${to}`} class={to === undefined ? '' : 'quiet'}>
            <td>
              {attributes.mac_addresses.includes(address) || /^(..:){5}..$/.test(address) ? (
                <Value value={address} list="listAssets" field="mac" />
              ) : (
                <Address ip={address} list="listAssets" />
              )}
            </td>
            <td>{from === undefined ? <span class="quiet">unknown</span> : <Time at={from} />}</td>
            <td>{to === undefined ? 'now' : <Time at={to} />}</td>
          </tr>
        ))}
      </SmallTable>
      {answer.error !== null && <p class="quiet">Address history unavailable: {answer.error.message}</p>}
      {(answer.data?.pagination.total ?? 0) > maxHistory && <p class="quiet">Older addresses are not shown.</p>}
    </>
  );
}
