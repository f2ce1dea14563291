/* How a struct that a program fills in starts: zeroed, with its own size in front, so that a library of another release
 * knows which members the program has. DLS_SIZED(struct x) is an initialiser, without warnings in C11 and in C++11 and
 * later. */
#ifndef DLSCHED_SIZED_H
#define DLSCHED_SIZED_H

#ifdef __cplusplus
template <class sized> inline sized dls_sized()
{
	sized value = sized();

	value.size = sizeof value;
	return value;
}
#define DLS_SIZED(type) dls_sized<type>()
#else
#define DLS_SIZED(type)                                                                                                \
	{                                                                                                              \
		.size = sizeof(type)                                                                                   \
	}
#endif

#endif
