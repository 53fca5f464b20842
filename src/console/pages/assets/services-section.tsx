import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Section, SmallTable } from '../../ui/detail.tsx';
import { number } from '../../ui/format.ts';
import { Answered } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import type { AssetRow } from './question.ts';
import { Port, ServiceState, Software } from './service-columns.tsx';

const shownServices = 30;

/** The services of the asset, by port. */
export function AssetServices({ asset: { id, attributes } }: { asset: AssetRow }) {
  const answer = useAnswer(
    'listAssetServices',
    { params: { asset_id: id }, query: { sort: 'port', per_page: shownServices } },
    { keepPrevious: false },
  );
  return (
    <Section title={`Services · ${number(attributes.service_count)} open`}>
      <Answered of={answer} rows={3}>
        {({ data, pagination }) =>
          data.length === 0 ? (
            <p class="quiet">No services seen.</p>
          ) : (
            <>
              <SmallTable
                label="Services"
                heads={[
                  { title: 'Port' },
                  { title: 'Service' },
                  { title: 'Clients', end: true },
                  { title: 'Connections', end: true },
                  { title: 'Last seen', end: true },
                ]}
              >
                {data.map(({ id: service, attributes: one }) => (
                  <tr key={service}>
                    <td>
                      <a href={href('assets', { view: 'services', asset_id: id, id: service })}>
                        <Port service={one} />
                      </a>
                    </td>
                    <td class="small-table-wide">
                      <Software service={one} />
                      {one.state === 'closed' && (
                        <>
                          {' '}
                          <ServiceState state={one.state} />
                        </>
                      )}
                    </td>
                    <td class="table-end">{number(one.clients)}</td>
                    <td class="table-end">{number(one.connections)}</td>
                    <td class="table-end quiet">
                      <Time at={one.last_seen} />
                    </td>
                  </tr>
                ))}
              </SmallTable>
              {pagination.total > data.length && (
                <p>
                  <a href={href('assets', { view: 'services', asset_id: id })}>Show all {number(pagination.total)}</a>
                </p>
              )}
            </>
          )
        }
      </Answered>
    </Section>
  );
}
