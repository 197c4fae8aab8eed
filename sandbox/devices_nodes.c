/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/devices.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "sandbox/base/path.h"

#define NODE(name_, minor_)                                                          \
	{                                                                            \
		.name = (name_), .type = DEVICE_CHAR, .major = 1, .minor = (minor_), \
		.access = DEVICE_READ | DEVICE_WRITE, .mode = 0666                   \
	}

static const struct device base_devices[] = {
	NODE("null", 3),
	NODE("zero", 5),
	NODE("full", 7),
	NODE("random", 8),
	NODE("urandom", 9),
	{ "tty", DEVICE_CHAR, 5, 0, DEVICE_READ | DEVICE_WRITE, 0666 },
	{ "", DEVICE_CHAR, 5, 2, DEVICE_READ | DEVICE_WRITE, 0 },
	{ "", DEVICE_CHAR, 136, DEVICE_ANY_MINOR, DEVICE_READ | DEVICE_WRITE, 0 },
};

_Static_assert(ARRAY_LEN(base_devices) <= DEVICES_MAX, "the base devices fit a slice");

void devices_base(struct device_slice *out)
{
	*out = (struct device_slice){ .count = ARRAY_LEN(base_devices) };
	memcpy(out->devices, base_devices, sizeof(base_devices));
}

static bool is_name(const char *name)
{
	const char *folder = strchr(name, '/');

	return path_is_relative(name) && (!folder || !strchr(folder + 1, '/'));
}

int devices_add(struct device_slice *slice, const struct device *device, struct err *err)
{
	if (strnlen(device->name, sizeof(device->name)) == sizeof(device->name))
		return err_set(err, ERR_INPUT, "a device's name is longer than %zu bytes",
			       sizeof(device->name) - 1);
	if (device->name[0] != '\0' && !is_name(device->name))
		return err_set(err, ERR_INPUT, "the device '%s' is not NAME or FOLDER/NAME",
			       device->name);
	if (device->name[0] != '\0' && device->minor == DEVICE_ANY_MINOR)
		return err_set(err, ERR_INPUT, "the device '%s' has no minor number", device->name);
	if (slice->count >= DEVICES_MAX)
		return err_set(err, ERR_INPUT, "more than %d devices", DEVICES_MAX);
	for (uint32_t i = 0; i < slice->count; i++)
		if (device->name[0] != '\0' && strcmp(slice->devices[i].name, device->name) == 0)
			return err_set(err, ERR_INPUT, "the device '%s' is there twice",
				       device->name);
	slice->devices[slice->count++] = *device;
	return 0;
}

static int make_folder(int dev_fd, const char *name, struct err *err)
{
	const char *end = strchr(name, '/');
	char folder[sizeof(((struct device *) 0)->name)] = "";

	if (!end)
		return 0;
	memcpy(folder, name, (size_t) (end - name));
	if (mkdirat(dev_fd, folder, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "create '/dev/%s'", folder);
	return 0;
}

static int make_node(int dev_fd, const struct device *device, struct err *err)
{
	mode_t type = device->type == DEVICE_BLOCK ? S_IFBLK : S_IFCHR;

	if (make_folder(dev_fd, device->name, err) < 0)
		return -1;
	if (mknodat(dev_fd, device->name, type | (device->mode & 0777),
		    makedev(device->major, device->minor)) < 0)
		return err_sys(err, "create the device '/dev/%s' (%u:%u)", device->name,
			       device->major, device->minor);
	return 0;
}

int devices_make_nodes(int dev_fd, const struct device_slice *slice, struct err *err)
{
	mode_t mask = umask(0);
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < slice->count && i < DEVICES_MAX; i++)
		if (slice->devices[i].name[0] != '\0')
			result = make_node(dev_fd, &slice->devices[i], err);
	umask(mask);
	return result;
}
