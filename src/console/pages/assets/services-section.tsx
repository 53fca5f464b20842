import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { number } from '../../ui/format.ts';
import { Section } from '../../ui/split.tsx';
import { Answered } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import type { AssetRow } from './question.ts';
import { Port, ServiceState, Software } from './service-columns.tsx';

const shownServices = 30;

/** What it offers, the ports in order. */
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
            <p class="quiet">None was seen.</p>
          ) : (
            <>
              <div class="asset-scrolls" tabIndex={0} role="group" aria-label="Services">
                <table class="asset-table">
                  <thead>
                    <tr>
                      <th scope="col">Port</th>
                      <th scope="col">Service</th>
                      <th scope="col" class="table-end">
                        Clients
                      </th>
                      <th scope="col" class="table-end">
                        Connections
                      </th>
                      <th scope="col" class="table-end">
                        Last seen
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.map(({ id: service, attributes: one }) => (
                      <tr key={service}>
                        <td>
                          <a href={href('assets', { view: 'services', asset_id: id, id: service })}>
                            <Port service={one} />
                          </a>
                        </td>
                        <td class="asset-wide">
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
                  </tbody>
                </table>
              </div>
              {pagination.total > data.length && (
                <p>
                  <a href={href('assets', { view: 'services', asset_id: id })}>
                    All {number(pagination.total)}
                  </a>
                </p>
              )}
            </>
          )
        }
      </Answered>
    </Section>
  );
}
