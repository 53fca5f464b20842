import { expect, test } from 'vitest';
import { attributes, filterOf } from '../../../src/console/pages/events/attributes.ts';
import { allColumns, chosenColumns, columnsText } from '../../../src/console/pages/events/column-names.ts';
import { curlCommand, quoted } from '../../../src/console/pages/events/command.ts';
import { type TableName, tables } from '../../../src/console/pages/events/tables.ts';
import { DnsEvent } from '../../../src/contract/resources/dns-event.ts';
import { NetworkEvent } from '../../../src/contract/resources/network-event.ts';
import { routeOf } from '../../../src/contract/routes.ts';

const names: readonly TableName[] = ['network', 'dns'];
const shapes = { network: NetworkEvent, dns: DnsEvent };

test.each(names)('every attribute of a %s event has a title and a filter', (table) => {
  const known = Object.keys(attributes[table]).sort();
  expect(known).toEqual(Object.keys(shapes[table].properties).sort());
  const { query } = routeOf(tables[table].list);
  const filters = Object.keys((query as { properties: object }).properties);
  expect(filters).toEqual(expect.arrayContaining(known.map(filterOf)));
});

test.each(names)('columns of %s events come from the URL, else from the defaults', (table) => {
  const usual = chosenColumns(table, null);
  expect(usual[0]).toBe('timestamp');
  expect(columnsText(table, usual)).toBeUndefined();
  expect(chosenColumns(table, 'no_such,constructor')).toEqual(usual);
  expect(chosenColumns(table, 'sensor,sensor,src_port')).toEqual(['timestamp', 'sensor', 'src_port']);
  const all = allColumns(table).map(({ id }) => id);
  expect(chosenColumns(table, columnsText(table, all))).toEqual(all);
});

test('the shell does not expand any part of the proposed curl command', () => {
  expect(quoted("it's $(rm) `x`")).toBe(`'it'\\''s $(rm) \`x\`'`);
  const command = curlCommand(
    'https://siem.example',
    'dns',
    { query: ["a'; rm -rf /", '$(x)'], sort: '-timestamp' },
    'arrow',
  );
  expect(command).toContain(
    "'https://siem.example/api/v1/events/dns?query=a%27%3B+rm+-rf+%2F&query=%24%28x%29&sort=-timestamp'",
  );
  expect(command).toContain("'Accept: application/vnd.apache.arrow.stream'");
});
