import { type Static, type TSchema, Type } from 'typebox';
import { type ErrorCode, errorCodes } from '../errors.ts';
import { type ResourceType, resourceTypes } from './resource-types.ts';
import { oneOf } from './resources/common.ts';
import { count, flag, list, optional, ordinal, part, shape, text, timestamp, uuid } from './resources/fields.ts';

export const Meta = shape('Meta', {
  timestamp: timestamp('Time of the response.'),
  query_time_ms: count('Duration of the query in milliseconds.'),
  damaged_events: optional(
    list(
      part('Events of one damaged block.', {
        events: count('Number of events.'),
        from: optional(timestamp('Time of the first event; absent if it is damaged too.')),
        to: optional(timestamp('Time of the last event; absent if it is damaged too.')),
      }),
      'Damaged stored events that may match the query and are left out of the response. Absent if no event is damaged.',
    ),
  ),
  damaged_rows: optional(
    count(
      'Number of damaged rows of alerts, assets and other tables that may belong to the response and are left out of it; at most 100 are counted. Absent if no row is damaged.',
    ),
  ),
});
export type Meta = Static<typeof Meta>;

export const Pagination = shape('Pagination', {
  page: ordinal('Number of the page; the first page is 1.'),
  per_page: ordinal('Maximum number of items per page.'),
  total: count('Exact number of matching items.'),
  total_pages: count('Number of pages.'),
  has_next: flag('Whether there is a next page.'),
  has_prev: flag('Whether there is a previous page.'),
  next_cursor: optional(text('Cursor of the next page, for ?cursor=; absent on the last page.')),
});
export type Pagination = Static<typeof Pagination>;

/** Returns the schema of a resource in an envelope. */
const resource = <T extends ResourceType, A extends TSchema>(type: T, attributes: A) =>
  item(type, uuid('Identifier of the resource.'), attributes);

/** Returns the schema of an item. The schema is an OpenAPI component if the schema of the attributes is a component. */
const item = <T extends string, I extends TSchema, A extends TSchema>(type: T, id: I, attributes: A) => {
  const { title } = attributes as { title?: string };
  return Type.Object(
    { id, type: Type.Literal(type, { description: 'Type of the resource.' }), attributes },
    {
      ...(title === undefined ? {} : { title: `${title}Resource` }),
      description: `A resource of type ${type}.`,
      additionalProperties: false,
    },
  );
};

/** Returns the schema of one resource, in the success envelope of the specification. */
export const success = <T extends ResourceType>(type: T) => successWith(type, resourceTypes[type]);

/** Returns the schema of one resource with attributes that differ from the usual schema of its type. */
export const successWith = <T extends ResourceType, A extends TSchema>(type: T, attributes: A) =>
  part('Success envelope.', { data: resource(type, attributes), meta: Meta });

/** Returns the schema of a page of resources, in the paginated envelope of the specification. */
export const paginated = <T extends ResourceType>(type: T) =>
  part('Paginated envelope.', {
    data: list(resource(type, resourceTypes[type]), 'The items of the page.'),
    pagination: Pagination,
    meta: Meta,
  });

/** Returns the schema of a page of items that are not resources, with their own `id` schema. */
export const listed = <T extends string, I extends TSchema, A extends TSchema>(type: T, id: I, attributes: A) =>
  part('Paginated envelope.', {
    data: list(item(type, id, attributes), 'The items of the page.'),
    pagination: Pagination,
    meta: Meta,
  });

/** Returns the schema of a response that is not a resource, with its `meta`. */
export const answer = <S extends TSchema>(data: S) => part('Response envelope.', { data, meta: Meta });

export const ErrorEnvelope = shape('Error', {
  error: part('The error.', {
    code: oneOf(Object.keys(errorCodes) as ErrorCode[], 'Error code.'),
    message: text('Error message.'),
    details: optional(
      Type.Object(
        {
          field: optional(
            text('Parameter, header or field of the body concerned; always present with INVALID_REQUEST.'),
          ),
          reason: text('Reason why the field is invalid, or the error message.'),
        },
        {
          description: 'Details of the error; some codes add members.',
          additionalProperties: true,
        },
      ),
    ),
  }),
  timestamp: timestamp('Time of the response.'),
});
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;
